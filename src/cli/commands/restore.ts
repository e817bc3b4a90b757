import type { Command } from 'commander'
import type { Restored, RestorePlan } from '../../archive/archive.ts'
import { nameDatabase } from '../../config/database-url.ts'
import { formatInstant, presentInstant } from '../../model/instant.ts'
import { operatorAt } from '../../model/audit.ts'
import { countOf } from '../../model/text.ts'
import { prepareRestore, readRevocations } from '../../open-store.ts'
import { confirm, YES } from '../../terminal/confirm.ts'
import { changeStore, HELP_HINT, loadDatabase, sayDatabase } from '../../terminal/context.ts'
import { Misuse } from '../../terminal/errors.ts'
import { inputOf } from '../../terminal/input.ts'
import { createWarn, printJson, say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { describe } from './backup.ts'
import { revocations } from '../../keys/records/revocations.ts'

interface Options {
  revocations?: string[]
  yes?: boolean
  json?: boolean
}

export function addRestoreCommand(program: Command, shell: Shell): void {
  program
    .command('restore [file]')
    .description('replace the content of the database with an archive; revoked keys stay revoked')
    .option(
      '--revocations <list...>',
      'also revoke what these list: journals of revocations, or archives',
    )
    .option(...YES)
    .option('--json', 'print what was restored as JSON')
    .addHelpText(
      'after',
      `
The file is an archive that \`backup\` has written, from either engine, or the file of a service that
was stopped. On SQLite, stop the service of the database first.

One transaction replaces the rows. Before that, the command writes an archive of what is there now.
It ends all dashboard sessions. What the archive can't know stays: keys that were revoked, users
who are disabled or banned, and the last use of each key. Tables of other programs stay as they are.

Without a file, the command only revokes what --revocations lists. A list is read whole, or nothing
changes. It may come from a pipe, and the archive may not.

Examples:
  server-listing restore /var/backups/listing.db
  server-listing restore /var/backups/listing.db --revocations /mnt/copy/listing.db-revoked
  server-listing restore --revocations /mnt/copy/listing.db-revoked`,
    )
    .action((file, options) =>
      file === undefined ? revoke(shell, options) : restore(shell, file, options),
    )
}

async function restore(shell: Shell, file: string, options: Options): Promise<void> {
  const database = loadDatabase(shell)
  const prepared = await prepareRestore(
    database,
    file,
    options.revocations ?? [],
    inputOf(shell),
    createWarn(shell),
  )
  try {
    if (prepared.plan.present !== null)
      await confirm(shell, describePlan(file, prepared.plan), options)
    const restored = await prepared.apply(operatorAt(presentInstant()))
    if (options.json) printJson(shell, recordOf(restored))
    const { kept, revoked, fault } = restored
    say(
      shell,
      `restored ${file}: ${describe(restored.archive)}. ` +
        `${countOf(revoked, 'key')} of the archive stayed revoked. ` +
        (kept === null
          ? 'There was no database before'
          : `What was there before is the archive ${kept}`),
    )
    sayDatabase(shell, nameDatabase(database))
    if (fault !== null) throw fault
  } finally {
    await prepared.close()
  }
}

function describePlan(file: string, { archive, present, revoked }: RestorePlan): string {
  const made = archive.made_at === null ? '' : `, made at ${formatInstant(archive.made_at)}`
  return (
    `restore ${file} (${describe(archive)}${made}) in place of ${describe(present!)}; ` +
    `${countOf(revoked, 'active key')} of the archive would stay revoked`
  )
}

function recordOf({ archive, present, revoked, kept }: Restored): object {
  const made_at = archive.made_at === null ? null : formatInstant(archive.made_at)
  return { archive: { ...archive, made_at }, present, revoked, kept }
}

async function revoke(shell: Shell, options: Options): Promise<void> {
  if (options.revocations === undefined)
    throw new Misuse(`name an archive, or a list with --revocations\n${HELP_HINT}`)
  const list = await readRevocations(options.revocations, inputOf(shell))
  const lists = options.revocations.join(', ')
  await changeStore(shell, async (store) => {
    const added = await revocations(store.database).uniteRevocations(
      list,
      operatorAt(presentInstant()),
    )
    const [listed, known] = [list.size, list.size - added]
    if (options.json) printJson(shell, { listed, added })
    const keys = countOf(listed, 'key')
    say(shell, `revoked what ${lists} lists: ${keys}; listed here before: ${known}`)
  })
}
