import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * The suites nearest to the runtime once more on the next line of Node.js, which gets a folder of its own.
 */

const VERSION = '26.10.0'
const SUITES = ['contract', 'sqlite', 'api', 'wire']

const folder = 'node_modules/.node26'
const binary = join(folder, 'node_modules/.bin/node')

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
const files = SUITES.map((suite) => `test/${suite}/*.test.ts`)
const options = ['--test-concurrency=2', '--test-reporter=./test/reporter.ts']
execFileSync(binary, ['--test', ...options, ...files], { stdio: 'inherit' })
