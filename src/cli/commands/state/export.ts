import type { Command } from 'commander'
import { stateJson } from '../../../listing/state/write-state.ts'
import { countOf } from '../../../listing/text.ts'
import { withStore } from '../../context.ts'
import { printJson, say } from '../../output.ts'
import type { Shell } from '../../shell.ts'

export function addExportCommand(program: Command, shell: Shell): void {
  program
    .command('export')
    .description('print all users, organizations, keys and servers as a state file')
    .addHelpText(
      'after',
      `
Keys are SHA-256 hashes. Passwords, sessions, invitations, usage counts and the audit log are not in
the file: \`backup\` and \`copy\` have them.

Example:
  server-listing export > state.json`,
    )
    .action(() => exportState(shell))
}

async function exportState(shell: Shell): Promise<void> {
  const state = await withStore(shell, (store) => store.readState())
  printJson(shell, stateJson(state))
  const { users, organizations, keys, servers } = state
  const counts = [
    countOf(users.length, 'user'),
    countOf(organizations.length, 'organization'),
    countOf(keys.length, 'key'),
    countOf(servers.length, 'server'),
  ]
  say(shell, `exported ${counts.join(', ')}`)
}
