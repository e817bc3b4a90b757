import type { Command } from 'commander'
import { nameOf } from '../user.ts'
import { formatInstant, presentInstant } from '../../model/instant.ts'
import { withStore } from '../../terminal/context.ts'
import { EXTERNAL_ID, findUser, readUser } from './named-user.ts'
import { printJson, printTable, shortInstant } from '../../terminal/output.ts'
import { readNumber, readSince } from '../../terminal/spans.ts'
import type { Shell } from '../../terminal/shell.ts'
import { operator } from '../../directory/records/operator.ts'

/** Entries that a list has by default, and the most it can have. */
const LIMIT = 100
const LIMIT_MAX = 1_000_000

interface ListOptions {
  user?: string
  externalId?: string
  since?: string
  limit?: string
  json?: boolean
}

export function addAuditCommands(program: Command, shell: Shell): void {
  program
    .command('audit')
    .description('read the audit log')
    .addHelpText('after', '\nExample:\n  server-listing audit list --since 7d')
    .command('list')
    .description('list who did what and from where, newest first')
    .option('--user <email>', 'only entries of this user')
    .option(...EXTERNAL_ID)
    .option('--since <time>', 'only entries since an instant, or of the last days, such as 7d')
    .option('--limit <n>', `the maximum number of entries (default: ${LIMIT})`)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The log keeps entries for 400 days, including refused sign-ins.

Examples:
  server-listing audit list --user ada@example.com
  server-listing audit list --since 2026-01-31T12:00:00Z --limit 10000 --json`,
    )
    .action((options) => list(shell, options))
}

async function list(shell: Shell, options: ListOptions): Promise<void> {
  const limit = readNumber(options.limit ?? String(LIMIT), '--limit', 1, LIMIT_MAX)
  const since =
    options.since === undefined ? undefined : readSince(options.since, '--since', presentInstant())
  const reference = readUser(options.user, options.externalId, '--user <email>')
  const entries = await withStore(shell, async (store) => {
    const userId = reference === null ? undefined : (await findUser(store, reference)).id
    return operator(store.database).listAudit(limit, { userId, since })
  })
  if (options.json)
    printJson(
      shell,
      entries.map((one) => ({ ...one, occurred_at: formatInstant(one.occurred_at) })),
    )
  else
    printTable(
      shell,
      ['TIME', 'ACTION', 'USER', 'SUBJECT', 'ADDRESS'],
      entries.map((entry) => [
        shortInstant(entry.occurred_at, ''),
        entry.action,
        entry.user_id === null ? '-' : nameOf({ ...entry, id: entry.user_id }),
        entry.subject,
        entry.address,
      ]),
    )
}
