import { tryEachCase } from './cases.mjs'

console.log(JSON.stringify(await tryEachCase(JSON.parse(process.argv[2]))))
