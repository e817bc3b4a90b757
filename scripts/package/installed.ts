import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { withPlainModes } from './modes.ts'

/**
 * Packs the package into a folder. Returns the path of the tarball. One process packs at a time,
 * because each build begins by deleting `dist/`.
 */
export function pack(folder: string): string {
  const npmPack = ['npm', 'pack', '--silent', '--json', '--pack-destination', resolve(folder)]
  const [packed] = JSON.parse(run('flock', ['package.json', ...npmPack], { cwd: ROOT }))
  const tarball = join(folder, packed.filename)
  writeFileSync(tarball, withPlainModes(readFileSync(tarball)))
  return tarball
}

const ROOT = join(import.meta.dirname, '../..')

/** Installs a tarball into a new folder, as an operator does. Returns the path of the command. */
export function install(tarball: string, folder: string, env = process.env): string {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
  addTo(folder, tarball, env)
  return join(folder, 'node_modules/.bin/server-listing')
}

/** Installs another tarball beside it. Offline, because a tarball has everything. */
export function addTo(folder: string, tarball: string, env = process.env): void {
  const options = [
    '--offline',
    '--omit=dev',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
  ]
  run('npm', ['install', ...options, resolve(tarball)], { cwd: folder, env })
}

function run(program: string, args: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }) {
  return execFileSync(program, args, {
    ...options,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
