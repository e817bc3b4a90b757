import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Packs the package into a folder and returns the path of the tarball. */
export function pack(folder: string): string {
  const args = ['pack', '--silent', '--json', '--pack-destination', folder]
  const [packed] = JSON.parse(npm(args, process.cwd()))
  return join(folder, packed.filename)
}

/** Installs a tarball into a new folder, as an operator does. Returns the path of the command. */
export function install(tarball: string, folder: string): string {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
  npm(['install', '--omit=dev', '--no-audit', '--no-fund', resolve(tarball)], folder)
  return join(folder, 'node_modules/.bin/server-listing')
}

function npm(args: readonly string[], cwd: string): string {
  return execFileSync('npm', [...args, '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
