import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientTarball } from '../../../scripts/package/client.ts'
import { install } from '../../../scripts/package/installed.ts'

/** The packed client in an empty folder. */
export interface InstalledClient {
  tarball: string
  folder: string
  remove(): void
}

/** Packs the client and installs it with npm, together with the programs of this folder. */
export async function installClient(): Promise<InstalledClient> {
  const home = mkdtempSync(join(tmpdir(), 'server-listing-client-'))
  const tarball = join(home, 'server-listing-client.tgz')
  writeFileSync(tarball, await clientTarball())
  const folder = join(home, 'installed')
  install(tarball, folder)
  for (const name of ['cases.mjs', 'program-main.mjs', 'worker-main.mjs'])
    copyFileSync(join(import.meta.dirname, name), join(folder, name))
  return { tarball, folder, remove: () => rmSync(home, { recursive: true, force: true }) }
}
