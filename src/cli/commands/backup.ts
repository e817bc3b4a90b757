import { createReadStream, existsSync, rmSync, statSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Command } from 'commander'
import {
  type ArchiveFacts,
  type BackedUp,
  describeBroken,
  type Facts,
} from '../../archive/archive.ts'
import { makeTemporaryFolder, nameNow } from '../../archive/leftovers.ts'
import { formatInstant, presentInstant } from '../../model/instant.ts'
import { operatorAt } from '../../model/audit.ts'
import { countOf } from '../../model/text.ts'
import { backUpStore } from '../../open-store.ts'
import { nameDatabase } from '../../config/database-url.ts'
import { loadDatabase, sayDatabase, withStore } from '../../terminal/context.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { printJson, say } from '../../terminal/output.ts'
import { readNumber } from '../../terminal/spans.ts'
import type { Shell } from '../../terminal/shell.ts'
import { act } from '../../accounts/records/audit.ts'
import { writeLastBackup } from '../../database/last-backup.ts'

interface Options {
  keep?: string
  json?: boolean
}

export function addBackupCommand(program: Command, shell: Shell): void {
  program
    .command('backup <target>')
    .description('write an archive of the database while it is served, and check it')
    .option('--keep <n>', 'with a folder as target: delete all but its newest N archives')
    .option('--json', 'print what the archive contains as JSON')
    .addHelpText(
      'after',
      `
The target is a file, a folder or - for standard output. In a folder, the file is named after the
instant. An archive is an SQLite file, whichever engine the service uses, and \`restore\` loads it
into either. It gets its name once it is checked and on the disk.

An archive has the list of keys that were revoked before it was made. \`restore\` unites that list
with the one of the database. On SQLite, keep a copy of the journal elsewhere, too: its name is that
of the database with -revoked.

Examples:
  server-listing backup /var/backups/listing.db
  server-listing backup --keep 14 /var/backups/server-listing
  server-listing backup - | restic backup --stdin --stdin-filename listing.db`,
    )
    .action((target, options) => backUp(shell, target, options))
}

async function backUp(shell: Shell, target: string, options: Options): Promise<void> {
  const keep = options.keep === undefined ? null : readNumber(options.keep, '--keep', 1, KEEP_MAX)
  if (target === '-') {
    if (options.json || keep !== null)
      throw new Misuse('--json and --keep need a file or a folder: - is the archive itself')
    await toStandardOutput(shell)
    return
  }
  const isFolder = existsSync(target) && statSync(target).isDirectory()
  if (keep !== null && !isFolder)
    throw new Misuse(`--keep needs a folder of archives, and ${target} is none`)
  const database = loadDatabase(shell)
  const file = isFolder ? join(target, nameNow()) : target
  const facts = await backUpStore(database, file)
  if (options.json) printJson(shell, { file, ...facts, made_at: formatInstant(facts.made_at!) })
  sayBackedUp(shell, facts, ` ${file}`)
  await record(shell, facts, file)
  sayDatabase(shell, nameDatabase(database))
  if (keep !== null) await removeOlder(file, keep)
}

function sayBackedUp(shell: Shell, facts: BackedUp, file = ''): void {
  say(shell, `backed up and checked${file}: ${describe(facts)}`)
  if (facts.is_partial)
    say(
      shell,
      'warning: the database has the schema of a newer server-listing: what only that version ' +
        'knows is not in the archive',
    )
  for (const rows of facts.broken)
    say(
      shell,
      `warning: \`restore\` refuses this archive, which has ${describeBroken(rows)}\n` +
        `  → ${rows.remedy}`,
    )
}

/** The backup is good even if the database can't be written, as by a role that may only read. */
async function record(shell: Shell, { made_at }: ArchiveFacts, target: string): Promise<void> {
  try {
    await withStore(shell, ({ database }) =>
      act(database, operatorAt(presentInstant()), async (transaction, note) => {
        await writeLastBackup(transaction, made_at!)
        note('database backed up', null, target)
      }),
    )
  } catch (error) {
    say(
      shell,
      'warning: the database does not record this backup, so /metrics shows an earlier one: ' +
        (error as Error).message,
    )
  }
}

/** The largest number of archives that --keep keeps. */
const KEEP_MAX = 10_000

const NAME = /^server-listing-\d{8}T\d{6}\d{3}Z$/

/** Keeps this archive and the newest others. The names sort by time, which may be set back. */
async function removeOlder(file: string, keep: number): Promise<void> {
  const folder = dirname(file)
  const others = (await readdir(folder)).filter(
    (name) => NAME.test(name) && name !== basename(file),
  )
  const older = others
    .toSorted()
    .toReversed()
    .slice(keep - 1)
  try {
    for (const name of older) await rm(join(folder, name), { force: true })
  } catch (error) {
    throw new Failure(`the backup is good, but an older one stays: ${(error as Error).message}`)
  }
}

async function toStandardOutput(shell: Shell): Promise<void> {
  if (shell.stdout.isTTY)
    throw new Misuse('standard output is a terminal; name a file, or add a pipe')
  const database = loadDatabase(shell)
  let folder: string | undefined
  const stopWatching = cleanUpOnSignals(() => folder !== undefined && removeFolder(folder))
  folder = makeTemporaryFolder()
  try {
    const file = join(folder, 'backup')
    const facts = await backUpStore(database, file)
    await writeWhole(shell, file)
    sayBackedUp(shell, facts)
    await record(shell, facts, 'standard output')
  } finally {
    removeFolder(folder)
    stopWatching()
  }
}

/** After a signal, SQLite's thread makes and deletes files meanwhile: either spoils an attempt. */
function removeFolder(folder: string): void {
  while (existsSync(folder)) rmSync(folder, { recursive: true, force: true, maxRetries: 100 })
}

/** Writes a file to standard output. Fails if the reader does not take all of it. */
async function writeWhole({ stdout }: Shell, file: string): Promise<void> {
  // Without a listener of its own, a command whose reader closes the pipe succeeds.
  stdout.on('error', () => {})
  try {
    for await (const chunk of createReadStream(file))
      await new Promise<void>((resolve, reject) =>
        stdout.write(chunk, (error) => (error ? reject(error) : resolve())),
      )
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Failure(
      `cannot write the backup to standard output: ${code ?? message}; there is no new backup`,
    )
  }
}

/** Cleans up before a signal ends the process. The returned function ends that. */
function cleanUpOnSignals(cleanUp: () => unknown): () => void {
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

export function describe({ users, servers, active_api_keys }: Facts): string {
  return [
    countOf(users, 'user'),
    countOf(servers, 'server'),
    countOf(active_api_keys, 'active key'),
  ].join(', ')
}
