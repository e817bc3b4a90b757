import type { Command } from 'commander'
import { quote } from '../../model/text.ts'
import { Misuse } from '../../terminal/errors.ts'
import { print, printJson, say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'

export function addTokenCommands(program: Command, shell: Shell): void {
  program
    .command('token')
    .description('make tokens of the management API')
    .addHelpText('after', '\nExample:\n  server-listing token create site')
    .command('create')
    .description('print a new token, and its line for MANAGEMENT_TOKENS_FILE')
    .argument('<name>', 'what the audit log calls the token: letters, digits, . - and _')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The token works once the file has the line. The service reads the file again when it changes. To
withdraw a token, delete its line.

Example:
  server-listing token create site`,
    )
    .action((name: string, options: { json?: true }) => create(shell, name, options))
}

async function create(shell: Shell, name: string, { json }: { json?: true }): Promise<void> {
  // Loaded here: help needs no cryptography.
  const { createToken, hashToken } = await import('../../accounts/token.ts')
  const { complaintAboutTokenName, lineOf } = await import('../../management/tokens.ts')
  const complaint = complaintAboutTokenName(name)
  if (complaint !== null)
    throw new Misuse(`the name of a token must ${complaint}, not ${quote(name)}`)
  const token = createToken()
  const line = lineOf({ name, hash: hashToken(token) })
  if (json) printJson(shell, { name, token, line })
  else print(shell, token)
  say(shell, `save the token now, because it cannot be shown again; its line for the file: ${line}`)
}
