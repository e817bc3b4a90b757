import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { NotRestored } from '../../transfer/backup.ts'
import type { BackupFacts, Manifest } from '../../transfer/backup.ts'
import { formatInstant } from '../../listing/instant.ts'

const manifestOf = (path: string): string => `${path}.json`

/** Counts what a database contains. */
export function readFacts(database: DatabaseSync): BackupFacts {
  const number = (query: string): number =>
    Number(Object.values(database.prepare(query).get() ?? {})[0])
  const lastUse = database.prepare('SELECT max(last_used_at) AS at FROM api_key_uses').get()?.at
  return {
    schema: number('SELECT max(number) FROM schema_migrations'),
    users: number('SELECT count(*) FROM users'),
    servers: number('SELECT count(*) FROM servers'),
    api_keys: number('SELECT count(*) FROM api_keys'),
    active_api_keys: number('SELECT count(*) FROM api_keys WHERE revoked_at IS NULL'),
    last_use: typeof lastUse === 'number' ? formatInstant(lastUse) : null,
  }
}

/** The SHA-256 of a file, in hexadecimal. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}

/** Writes the manifest beside a backup, whole or not at all. */
export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  const temporary = `${manifestOf(path)}.partial-${process.pid}`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, manifestOf(path))
}

/** Throws NotRestored if the file is not the one that its manifest describes. */
export async function checkManifest(path: string): Promise<void> {
  if (!existsSync(manifestOf(path))) return
  const { sha256 } = readManifest(path)
  if ((await hashFile(path)) !== sha256)
    throw new NotRestored(
      `the backup ${path} is not the file that ${manifestOf(path)} describes: its SHA-256 differs, so it was changed or ` +
        'cut off; use another backup, or remove the manifest if you trust the file',
    )
}

function readManifest(path: string): Partial<Manifest> {
  try {
    return JSON.parse(readFileSync(manifestOf(path), 'utf8')) as Partial<Manifest>
  } catch (error) {
    throw new NotRestored(
      `cannot read the manifest ${manifestOf(path)}: ${(error as Error).message}; remove it if you trust the backup`,
    )
  }
}
