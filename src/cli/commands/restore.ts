import type { Command } from 'commander'
import type { RestorePlan } from '../../transfer/backup/backup.ts'
import { countOf } from '../../listing/text.ts'
import { prepareRestore } from '../../open-store.ts'
import { confirm, YES } from '../confirm.ts'
import { nameDatabase } from '../../database-url.ts'
import { loadDatabase, sayDatabase } from '../context.ts'
import { describe } from './backup.ts'
import { printJson, say } from '../output.ts'
import type { Shell } from '../shell.ts'

interface Options {
  revocations?: string[]
  yes?: boolean
  json?: boolean
}

export function addRestoreCommand(program: Command, shell: Shell): void {
  program
    .command('restore <file>')
    .description('replace the database with a backup; revoked keys stay revoked')
    .option(
      '--revocations <journal...>',
      'further journals of revocations, such as a copy from a lost machine',
    )
    .option(...YES)
    .option('--json', 'print what was restored as JSON')
    .addHelpText(
      'after',
      `
Stop the service first. The command checks the backup before it changes anything, keeps the replaced
database beside the new one, and ends all dashboard sessions.

Keys that were revoked since the backup stay revoked, and so do the keys of removed users. The
command learns of them from the replaced database and, on SQLite, from the journal beside it and the
journals that --revocations names.

Example:
  server-listing restore /var/backups/listing.db`,
    )
    .action((file, options) => restore(shell, file, options))
}

async function restore(shell: Shell, file: string, options: Options): Promise<void> {
  const database = loadDatabase(shell)
  const prepared = await prepareRestore(database, file, options.revocations ?? [])
  try {
    const { plan } = prepared
    if (plan.present !== null || plan.unreadable !== null)
      await confirm(shell, describePlan(file, plan), options)
    if (plan.unreadable !== null)
      say(
        shell,
        `warning: only the journal of revocations told which keys to revoke: ${plan.unreadable}`,
      )
    const restored = await prepared.apply()
    if (options.json) printJson(shell, restored)
    const { kept, revoked } = restored
    say(
      shell,
      `restored ${file}: ${describe(restored.backup)}. ` +
        `${countOf(revoked, 'key')} of the backup stayed revoked. ` +
        (kept === null ? 'There was no database before' : `The replaced database is ${kept}`),
    )
    sayDatabase(shell, nameDatabase(database))
  } finally {
    await prepared.close()
  }
}

function describePlan(file: string, { backup, present, unreadable }: RestorePlan): string {
  const last = backup.last_use === null ? '' : `, last used at ${backup.last_use}`
  const replaced =
    present === null ? `a database that can't be read (${unreadable})` : describe(present)
  return `restore ${file} (${describe(backup)}${last}) in place of ${replaced}`
}
