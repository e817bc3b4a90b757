import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { chmod, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { formatInstant, type Instant, parseInstant, presentInstant } from '../../listing/instant.ts'
import { syncPath } from './sync-path.ts'
import { type BackupFacts, type Manifest, NotBackedUp, NotRestored } from './backup.ts'

const manifestOf = (path: string): string => `${path}.json`
const partialOf = (path: string): string => `${path}.partial-`

/**
 * Has `write` make a backup, and gives it its name and its manifest once it is whole and on the
 * disk. Removes what an earlier backup to this target has left when it was killed. Throws
 * NotBackedUp; an earlier backup then stays as it is.
 */
export async function writeBackup(
  target: string,
  program: string,
  write: (partial: string) => Promise<BackupFacts>,
): Promise<Manifest> {
  if (!existsSync(dirname(target)))
    throw new NotBackedUp(`cannot back up to ${target}: there is no folder ${dirname(target)}`)
  await removePartials(target)
  const partial = `${partialOf(target)}${process.pid}`
  try {
    const facts = await write(partial)
    const manifest = {
      program,
      made_at: formatInstant(presentInstant()),
      ...facts,
      bytes: statSync(partial).size,
      sha256: await hashFile(partial),
    }
    await chmod(partial, 0o600)
    await syncPath(partial)
    // A manifest of another file must not stand beside the new one.
    await rm(manifestOf(target), { force: true })
    await rename(partial, target)
    await writeManifest(target, manifest)
    await syncPath(dirname(target))
    return manifest
  } catch (error) {
    await removePartials(target, process.pid)
    throw sentenceFor(error, target)
  }
}

/** Writes the manifest beside a backup, whole or not at all. */
async function writeManifest(target: string, manifest: Manifest): Promise<void> {
  const partial = `${partialOf(manifestOf(target))}${process.pid}`
  const file = await open(partial, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(partial, manifestOf(target))
}

/** Removes the partial files of this process, or those of processes that have ended. */
async function removePartials(target: string, own?: number): Promise<void> {
  const begins = [target, manifestOf(target)].map((path) => basename(partialOf(path)))
  for (const name of await readdir(dirname(target))) {
    const begin = begins.find((each) => name.startsWith(each))
    if (begin === undefined) continue
    const pid = Number.parseInt(name.slice(begin.length), 10)
    if (own === undefined ? !isRunning(pid) : pid === own)
      await rm(join(dirname(target), name), { force: true, recursive: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const SQLITE_FULL = 13

/** Our own errors are sentences already. */
function sentenceFor(error: unknown, target: string): unknown {
  if (!(error instanceof Error) || !error.name.endsWith('Error')) return error
  const { code, errcode } = error as { code?: string; errcode?: number }
  const isFull = code === 'ENOSPC' || errcode === SQLITE_FULL
  const reason = isFull ? 'the disk is full' : error.message
  return new NotBackedUp(`cannot back up to ${target}: ${reason}; there is no new backup`)
}

/**
 * Throws NotRestored if there is no such backup, or if it is not what its manifest describes.
 * Returns when the backup was made; null without a manifest.
 */
export async function checkBackup(path: string): Promise<Instant | null> {
  if (!existsSync(path) || !statSync(path).isFile())
    throw new NotRestored(`cannot restore ${path}: there is no such file`)
  if (!existsSync(manifestOf(path))) return null
  const { sha256, made_at } = readManifest(path)
  if ((await hashFile(path)) !== sha256)
    throw new NotRestored(
      `the backup ${path} is not the file that ${manifestOf(path)} describes: its SHA-256 differs, so it was changed or ` +
        'cut off; use another backup, or remove the manifest if you trust the file',
    )
  return made_at === undefined ? null : parseInstant(made_at)
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

/** The SHA-256 of a file, in hexadecimal. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}
