import type { Command } from 'commander'
import type { ApplyOptions } from './apply-file.ts'
import { YES } from '../../terminal/confirm.ts'
import type { Shell } from '../../terminal/shell.ts'

export function addApplyCommand(program: Command, shell: Shell): void {
  program
    .command('apply')
    .description('make users, organizations, keys and servers as a state file declares them')
    .argument('<file>', 'the state file, JSON; - for standard input')
    .option('--dry-run', 'only print the plan')
    .option('--prune', 'remove what the file leaves out, of the users that it has')
    .option(...YES)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The command prints a plan first. On a terminal it asks. Elsewhere it needs --yes. A second run makes
no changes. With --prune it deletes servers, ends memberships and revokes keys that the file leaves
out. It removes no users or organizations, and a revoked key stays revoked. docs/declared-state.md
describes the file.

Examples:
  server-listing apply state.json --dry-run
  server-listing apply state.json --prune --yes
  server-listing export | server-listing apply - --dry-run`,
    )
    .action(async (file: string, options: ApplyOptions) => {
      // Loaded on demand: help and other commands need no rules of state files.
      const { applyFile } = await import('./apply-file.ts')
      await applyFile(shell, file, options)
    })
}
