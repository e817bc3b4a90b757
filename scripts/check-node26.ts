import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { installNode26 } from './node26.ts'

/*
 * Runs suites of scripts/test.ts on the next line of Node.js: `npm run check:node26`, or
 * `npm run check:node26 -- quick`. Each file has its own process, because a test that passes only
 * beside others is wrong, too.
 */

const binary = installNode26()
console.log(binary)

const args = process.argv.slice(2)
const suites = args.length > 0 ? args : ['quick', 'versions']
// Programs that tests start by name, such as `npm start`, find the same Node.js.
const env = { ...process.env, PATH: `${dirname(binary)}:${process.env.PATH}` }
const { status } = spawnSync(binary, ['scripts/test.ts', '--alone', ...suites], {
  stdio: 'inherit',
  env,
})
process.exitCode = status ?? 1
