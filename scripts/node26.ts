import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const VERSION = '26.10.0'

/** The path of the next line of Node.js. Installs it in its own folder if it is not there. */
export function installNode26(): string {
  const folder = join(import.meta.dirname, '../node_modules/.node26')
  const binary = resolve(folder, 'node_modules/.bin/node')
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true })
    const allowScripts = { node: true }
    const manifest = { private: true, allowScripts, dependencies: { node: VERSION } }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    const options = ['--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
    execFileSync('npm', ['install', ...options], { cwd: folder, stdio: 'inherit' })
  }
  const found = execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim()
  if (found !== `v${VERSION}`)
    throw new Error(`expected Node.js ${VERSION} in ${folder}, found ${found}`)
  return binary
}
