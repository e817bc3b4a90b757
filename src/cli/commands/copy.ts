import { existsSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import { nameDatabase, parseDatabaseUrl } from '../../database-url.ts'
import type { OnProgress } from '../../transfer/copy.ts'
import { count, quote } from '../../listing/text.ts'
import { copyStore } from '../../open-store.ts'
import { loadDatabase, needOption, sayDatabase } from '../context.ts'
import { Misuse } from '../errors.ts'
import { createProgress, printJson, say } from '../output.ts'
import type { Shell } from '../shell.ts'

const EXAMPLE = 'sqlite:data/server-listing.db'

export function addCopyCommand(program: Command, shell: Shell): void {
  program
    .command('copy')
    .description('copy an SQLite file into the empty PostgreSQL database that DATABASE_URL names')
    .usage('--from sqlite:<path>')
    .option('--from <url>', 'the file to copy, as sqlite:PATH')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Stop the service on the file first. The command copies everything, including each key's hash,
revocation and last use, and compares every row. If it fails or is interrupted, it copies nothing.
The file does not change.

Example:
  DATABASE_URL=postgres://listing@db.example.com/listing server-listing copy --from ${EXAMPLE}`,
    )
    .action((options) => copy(shell, options))
}

async function copy(shell: Shell, options: { from?: string; json?: boolean }): Promise<void> {
  const path = readSource(needOption(options.from, '--from sqlite:<path>'))
  const target = readTarget(shell)
  if (!existsSync(path) || !statSync(path).isFile())
    throw new Misuse(`cannot copy from ${quote(path)}: no such file. Check the path after --from`)
  const progress = createProgress(shell)
  const show: OnProgress = ({ table, act, done, count: rows }) =>
    progress.show(`${table}: ${count(done)} of ${count(rows)} rows ${act}`)
  try {
    const tables = await copyStore(path, target.url, show)
    progress.clear()
    if (options.json)
      printJson(
        shell,
        tables.map((one) => ({ table: one.name, rows: one.count })),
      )
    const counts = tables.map((one) => `${count(one.count)} in ${one.name}`)
    say(shell, `copied and compared all rows: ${counts.join(', ')}`)
    sayDatabase(shell, nameDatabase(target))
  } catch (error) {
    progress.clear()
    throw error
  }
}

function readSource(from: string): string {
  const parsed = parseDatabaseUrl(from, '--from')
  if (parsed.engine === 'sqlite') return parsed.path
  if (/^sqlite:/i.test(from) && parsed.engine === null) throw new Misuse(parsed.problem)
  // Another URL may contain a password, so only its scheme is repeated.
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(from)?.[1]
  const found = scheme === undefined ? 'no scheme' : `the scheme ${quote(scheme)}`
  throw new Misuse(
    `--from must name an SQLite file, such as --from ${EXAMPLE}, but it has ${found}`,
  )
}

function readTarget(shell: Shell): { engine: 'postgres'; url: string } {
  const database = loadDatabase(shell)
  if (database.engine === 'postgres') return database
  throw new Misuse(
    'DATABASE_URL must name the PostgreSQL database to copy into, such as ' +
      `postgres://USER:PASSWORD@HOST:5432/DATABASE, not the SQLite file ${quote(database.path)}`,
  )
}
