import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { addTo, install } from '../../../scripts/package/installed.ts'
import { type Release, release } from '../../../scripts/release/release.ts'
import { ROOT } from '../../fixtures/tree.ts'

/** The package in a folder of its own. */
export interface InstalledPackage {
  release: Release
  /** Where the operator ran `npm install`, for the client, too. */
  folder: string
  /** The files of the package. */
  files: string
  /** The environment of an operator's shell. No variable has a path of the checkout. */
  env: Record<string, string>
  remove(): void
}

/**
 * Makes a release and installs the package into an empty folder, with an empty cache of npm and
 * without a registry. The folder is on a disk, because memory may be mounted without programs.
 */
export function installPackage(): InstalledPackage {
  const home = mkdtempSync(join(tmpdir(), 'server-listing-installed-'))
  const programs = join(home, 'programs')
  mkdirSync(programs)
  // The tests run the Node.js of the checkout.
  copyFileSync(process.execPath, join(programs, 'node'))
  const PATH = [programs, ...pathOutsideCheckout()].join(delimiter)
  const env = { ...outsideCheckout(), HOME: home, PATH }
  const released = release(join(home, 'release'))
  const folder = join(home, 'installed')
  const npmEnv = { ...env, npm_config_cache: join(home, 'empty-cache') }
  install(released.tarball, folder, npmEnv)
  addTo(folder, released.client, npmEnv)
  return {
    release: released,
    folder,
    files: join(folder, 'node_modules/server-listing'),
    env,
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** Without the variables that `npm run` and the tests have added. */
function outsideCheckout(): Record<string, string> {
  const kept = Object.entries(process.env as Record<string, string>).filter(
    ([name, value]) => !/^(npm_(?!config_)|NODE_TEST)/.test(name) && !value.includes(ROOT_NAME),
  )
  return Object.fromEntries(kept)
}

function pathOutsideCheckout(): string[] {
  const folders = process.env.PATH!.split(delimiter)
  return folders.filter((each) => !`${each}/`.includes(ROOT) && !each.includes('node_modules'))
}

const ROOT_NAME = ROOT.replace(/\/$/, '')
