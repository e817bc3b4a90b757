import type { Command } from 'commander'
import { createStateText } from '../write-state.ts'
import { countOf } from '../../model/text.ts'
import { withStore } from '../../terminal/context.ts'
import { say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { states } from '../records/states.ts'

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

async function exportState(shell: Shell): Promise<void> {
  const text = createStateText()
  const counts = { users: 0, organizations: 0, keys: 0, servers: 0 }
  await withStore(shell, (store) =>
    states(store.database).readState((part) => {
      text.add(part)
      for (const kind of ['users', 'organizations', 'keys', 'servers'] as const)
        counts[kind] += part[kind].length
    }),
  )
  // Only now: a reader who pauses must not keep the transaction open.
  for (const part of text.end()) shell.stdout.write(part)
  const told = [
    countOf(counts.users, 'user'),
    countOf(counts.organizations, 'organization'),
    countOf(counts.keys, 'key'),
    countOf(counts.servers, 'server'),
  ]
  say(shell, `exported ${told.join(', ')}`)
}
