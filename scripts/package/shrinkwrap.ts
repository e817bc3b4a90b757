import { writeFileSync } from 'node:fs'
import { lockOfOperators } from './lock.ts'

/*
 * Writes npm-shrinkwrap.json: the part of package-lock.json that operators install. `npm pack` runs
 * this first and deletes the file afterwards, because npm prefers it to package-lock.json. See
 * docs/decisions/0031-a-bundle.md.
 */

writeFileSync('npm-shrinkwrap.json', `${JSON.stringify(lockOfOperators(), null, 2)}\n`)
