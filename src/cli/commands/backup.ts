import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import type { BackupFacts, Manifest } from '../../transfer/backup/backup.ts'
import { parseInstant } from '../../listing/instant.ts'
import { countOf } from '../../listing/text.ts'
import { backUpStore } from '../../open-store.ts'
import { nameDatabase } from '../../database-url.ts'
import { loadDatabase, sayDatabase, withStore } from '../context.ts'
import { Misuse } from '../errors.ts'
import { printJson, say } from '../output.ts'
import { readNumber } from '../spans.ts'
import { readVersion } from '../version.ts'

interface Options {
  keep?: string
  json?: boolean
}

export function addBackupCommand(program: Command): void {
  program
    .command('backup <target>')
    .description('copy the database while it is served, check the copy, and describe it')
    .option('--keep <n>', 'with a folder as target: delete all but its newest N backups')
    .option('--json', 'print the manifest as JSON')
    .addHelpText(
      'after',
      `
The target is a file, a folder or - for standard output. In a folder, the file is named after the
instant. The copy is opened and checked before it gets its name. Beside it, FILE.json holds its
manifest: version, counts and SHA-256.

A backup knows nothing of keys that are revoked later. \`restore\` learns of them from the database
that it replaces and from the journal beside it, whose name ends in -revoked. Keep a copy of that
journal elsewhere, too.

Examples:
  server-listing backup /var/backups/listing.db
  server-listing backup --keep 14 /var/backups/server-listing
  server-listing backup - | restic backup --stdin --stdin-filename listing.db`,
    )
    .action(backUp)
}

async function backUp(target: string, options: Options): Promise<void> {
  const keep = options.keep === undefined ? null : readNumber(options.keep, '--keep', 1, KEEP_MAX)
  if (target === '-') {
    if (options.json || keep !== null)
      throw new Misuse('--json and --keep need a file or a folder: - is the backup itself')
    await toStandardOutput()
    return
  }
  const isFolder = existsSync(target) && statSync(target).isDirectory()
  if (keep !== null && !isFolder)
    throw new Misuse(`--keep needs a folder of backups, and ${target} is none`)
  const database = loadDatabase()
  const file = isFolder ? join(target, nameNow()) : target
  const manifest = await backUpStore(database, file, readVersion())
  if (keep !== null) await removeOlder(target, keep)
  if (options.json) printJson({ file, ...manifest })
  say(`backed up and checked ${file}: ${describe(manifest)}`)
  await record(manifest)
  sayDatabase(nameDatabase(database))
}

/** The backup is good even if the database can't be written, as by a role that may only read. */
async function record({ made_at }: Manifest): Promise<void> {
  try {
    await withStore((store) => store.recordBackup(parseInstant(made_at)!))
  } catch (error) {
    say(
      'warning: the database does not record this backup, so /metrics shows an earlier one: ' +
        (error as Error).message,
    )
  }
}

/** The largest number of backups that --keep keeps. */
const KEEP_MAX = 10_000

const NAME = /^server-listing-\d{8}T\d{6}\d{3}Z$/

function nameNow(): string {
  return `server-listing-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`
}

/** The names sort by time. */
async function removeOlder(folder: string, keep: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name)).toSorted()
  for (const name of names.slice(0, -keep))
    for (const each of [name, `${name}.json`]) await rm(join(folder, each), { force: true })
}

async function toStandardOutput(): Promise<void> {
  if (process.stdout.isTTY)
    throw new Misuse('standard output is a terminal; name a file, or add a pipe')
  const database = loadDatabase()
  let folder: string | undefined
  const remove = () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  const stopWatching = cleanUpOnSignals(remove)
  folder = mkdtempSync(join(tmpdir(), 'server-listing-backup-'))
  // Before the listener of all commands, for which a reader that closes the pipe is no failure.
  process.stdout.prependOnceListener('error', (error: NodeJS.ErrnoException) => {
    remove()
    const reason = error.code ?? error.message
    say(`error: cannot write the backup to standard output: ${reason}; there is no new backup`)
    process.exit(1)
  })
  try {
    const file = join(folder, 'backup')
    const manifest = await backUpStore(database, file, readVersion())
    await pipeline(createReadStream(file), process.stdout, { end: false })
    say(`backed up and checked: ${describe(manifest)}, SHA-256 ${manifest.sha256}`)
    await record(manifest)
  } finally {
    remove()
    stopWatching()
  }
}

/** Cleans up before a signal ends the process. The returned function ends that. */
function cleanUpOnSignals(cleanUp: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const end = (signal: NodeJS.Signals) => {
    cleanUp()
    stop()
    process.kill(process.pid, signal)
  }
  const stop = () => {
    for (const each of signals) process.off(each, end)
  }
  for (const each of signals) process.on(each, end)
  return stop
}

export function describe({ users, servers, active_api_keys }: BackupFacts): string {
  return [
    countOf(users, 'user'),
    countOf(servers, 'server'),
    countOf(active_api_keys, 'active key'),
  ].join(', ')
}
