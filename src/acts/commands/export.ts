import type { Command } from 'commander'
import { jsonArray } from '../../model/json-array.ts'
import { countOf } from '../../model/text.ts'
import { withStore } from '../../terminal/context.ts'
import { say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { FORMAT_VERSION } from '../document.ts'
import { acts } from '../records/acts.ts'

export function addExportCommand(program: Command, shell: Shell): void {
  program
    .command('export')
    .description('print all users, organizations, keys and servers as a state file')
    .addHelpText(
      'after',
      `
Keys are SHA-256 hashes. Passwords, sessions, usage counts and the audit log are not in the file:
\`backup\` has them.

Example:
  server-listing export > state.json`,
    )
    .action(() => exportState(shell))
}

const NOUNS = {
  put_users: 'user',
  put_organizations: 'organization',
  put_members: 'member',
  put_servers: 'server',
  put_keys: 'key',
}

/** Equal states give equal texts, on both engines. */
async function exportState(shell: Shell): Promise<void> {
  const lists = Object.keys(NOUNS).map((act) => {
    return { act, array: jsonArray(), texts: [] as string[], rows: 0 }
  })
  await withStore(shell, (store) =>
    acts(store.database).readAll((act, rows) => {
      const list = lists.find((one) => one.act === act)!
      list.texts.push(indent(list.array.add(rows)))
      list.rows += rows.length
    }),
  )
  // Only now: a reader who pauses must not keep the transaction open.
  shell.stdout.write(`{\n  "format_version": ${FORMAT_VERSION}`)
  for (const { act, array, texts } of lists) {
    shell.stdout.write(`,\n  "${act}": `)
    for (const text of texts) shell.stdout.write(text)
    shell.stdout.write(indent(array.end().trimEnd()))
  }
  shell.stdout.write('\n}\n')
  const told = lists.map(({ act, rows }) => countOf(rows, NOUNS[act as keyof typeof NOUNS]))
  say(shell, `exported ${told.join(', ')}`)
}

const indent = (text: string) => text.replaceAll('\n', '\n  ')
