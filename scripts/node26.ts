import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** The path of the next line of Node.js, installed as its own lock file says. */
export function installNode26(): string {
  const folder = join(import.meta.dirname, 'node26')
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: 'inherit',
  })
  return join(folder, 'node_modules/.bin/node')
}
