import { execFileSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { install, pack } from './installed.ts'

/*
 * `npm run size` packs the package, installs it into an empty folder as an operator does, and
 * prints the size. Fails if it exceeds the limits below, or if the installed command does not
 * start.
 */

const PACKAGES_MAX = 35
const MEGABYTES_MAX = 13

const folder = mkdtempSync(join(tmpdir(), 'server-listing-size-'))
try {
  const command = install(pack(folder), join(folder, 'installed'))
  const version = execFileSync(command, ['--version'], { encoding: 'utf8' }).trim()

  const installed = join(folder, 'installed/node_modules')
  const lock = JSON.parse(readFileSync(join(installed, '.package-lock.json'), 'utf8'))
  const packages = Object.keys(lock.packages).length
  const megabytes = bytesBelow(installed) / 1e6
  const shown = `${packages} packages, ${megabytes.toFixed(1)} MB`
  console.log(`server-listing ${version} installs as ${shown}`)
  if (packages > PACKAGES_MAX || megabytes > MEGABYTES_MAX) {
    console.error(`the limit is ${PACKAGES_MAX} packages and ${MEGABYTES_MAX} MB`)
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** On disk, where each file takes whole blocks. */
function bytesBelow(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).blocks * 512, 0)
}
