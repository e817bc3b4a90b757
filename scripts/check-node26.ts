import { execFileSync, spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'

/*
 * Runs suites of scripts/test.ts on the next line of Node.js: `npm run check:node26`, or
 * `npm run check:node26 -- quick`. Each file has its own process, because a test that passes only
 * beside others is wrong, too.
 */

/** The path of the next line of Node.js, installed as its own lock file says. */
export function installNode26(): string {
  const cwd = join(import.meta.dirname, 'node26')
  const npmCi = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', npmCi, { cwd, stdio: 'inherit' })
  return join(cwd, 'node_modules/.bin/node')
}

if (import.meta.main) {
  const binary = installNode26()
  console.log(binary)
  const args = process.argv.slice(2)
  const suites = args.length > 0 ? args : ['quick', 'versions']
  // Programs that tests start by name, such as `npm start`, find the same Node.js.
  const env = { ...process.env, PATH: `${dirname(binary)}:${process.env.PATH}` }
  const words = ['scripts/test.ts', '--alone', ...suites]
  process.exitCode = spawnSync(binary, words, { stdio: 'inherit', env }).status ?? 1
}
