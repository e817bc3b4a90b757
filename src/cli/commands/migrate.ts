import type { Command } from 'commander'
import { migrateStore } from '../../open-store.ts'
import { nameDatabase } from '../../config/database-url.ts'
import { loadDatabase, sayDatabase } from '../../terminal/context.ts'
import { printJson, say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'

export function addMigrateCommand(program: Command, shell: Shell): void {
  program
    .command('migrate')
    .description('create the database if it is missing and update its schema (serve does this too)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=sqlite:/var/lib/server-listing/listing.db server-listing migrate',
    )
    .action(async (options: { json?: boolean }) => {
      const database = loadDatabase(shell)
      const applied = await migrateStore(database)
      if (options.json) printJson(shell, { applied })
      for (const name of applied) say(shell, `applied ${name}`)
      say(shell, 'the schema is up to date')
      sayDatabase(shell, nameDatabase(database))
    })
}
