import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/*
 * Runs suites of scripts/test.ts on the next line of Node.js, which it installs in its own folder:
 * `npm run check:node26`, or `npm run check:node26 -- quick`.
 */

const VERSION = '26.10.0'

const folder = 'node_modules/.node26'
const binary = resolve(folder, 'node_modules/.bin/node')

if (!existsSync(binary)) {
  mkdirSync(folder, { recursive: true })
  const manifest = { private: true, allowScripts: { node: true }, dependencies: { node: VERSION } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const options = ['--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['install', ...options], { cwd: folder, stdio: 'inherit' })
}
const found = execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim()
if (found !== `v${VERSION}`)
  throw new Error(`expected Node.js ${VERSION} in ${folder}, found ${found}`)
console.log(`Node.js ${found}`)

const args = process.argv.slice(2)
const suites = args.length > 0 ? args : ['quick', 'versions']
// Programs that tests start by name, such as `npm start`, find the same Node.js.
const env = { ...process.env, PATH: `${dirname(binary)}:${process.env.PATH}` }
const { status } = spawnSync(binary, ['scripts/test.ts', ...suites], { stdio: 'inherit', env })
process.exitCode = status ?? 1
