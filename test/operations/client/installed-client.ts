import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { install, pack } from '../../../scripts/package/installed.ts'

/** The packed client in an empty folder. */
export interface InstalledClient {
  tarball: string
  folder: string
  remove(): void
}

/** Packs the client and installs it with npm, together with the programs of this folder. */
export function installClient(): InstalledClient {
  const home = mkdtempSync(join(tmpdir(), 'server-listing-client-'))
  const tarball = pack(home, 'client')
  const folder = join(home, 'installed')
  install(tarball, folder)
  for (const name of ['cases.mjs', 'program-main.mjs', 'worker-main.mjs'])
    copyFileSync(join(import.meta.dirname, name), join(folder, name))
  return { tarball, folder, remove: () => rmSync(home, { recursive: true, force: true }) }
}
