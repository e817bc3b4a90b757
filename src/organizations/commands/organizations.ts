import type { Command } from 'commander'
import { count } from '../../model/text.ts'
import { withStore } from '../../terminal/context.ts'
import { printJson, printTable } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { inventory } from '../../directory/records/inventory.ts'

export function addOrganizationCommands(program: Command, shell: Shell): void {
  program
    .command('organization')
    .description('list organizations')
    .addHelpText('after', '\nExample:\n  server-listing organization list')
    .command('list')
    .description('list all organizations with their owners, members and servers')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  server-listing organization list\n  server-listing organization list --json',
    )
    .action((options) => list(shell, options))
}

async function list(shell: Shell, options: { json?: boolean }): Promise<void> {
  const records = await withStore(shell, (store) =>
    inventory(store.database).listOrganizationRecords(),
  )
  if (options.json) printJson(shell, records)
  else
    printTable(
      shell,
      ['SLUG', 'NAME', 'OWNERS', 'MEMBERS', 'SERVERS', 'ID'],
      records.map(({ slug, name, owners, members, servers, id }) => [
        slug,
        name,
        owners.join(', ') || '-',
        count(members),
        count(servers),
        id,
      ]),
    )
}
