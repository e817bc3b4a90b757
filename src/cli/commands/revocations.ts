import { rmSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { disabledUsers } from '../../accounts/records/disabled-users.ts'
import type { NamedUser } from '../../accounts/user.ts'
import { revocations } from '../../keys/records/revocations.ts'
import { countOf, quote } from '../../model/text.ts'
import { revocationLine } from '../../model/key-format.ts'
import { withStore } from '../../terminal/context.ts'
import { Failure } from '../../terminal/errors.ts'
import { print, say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'

export function addRevocationCommands(program: Command, shell: Shell): void {
  program
    .command('revocations')
    .description('hand what has ended here to an earlier version')
    .addHelpText(
      'after',
      '\nExample:\n  server-listing revocations export revoked.txt > disable.sh',
    )
    .command('export')
    .description(
      'write the revoked keys to a new file, and print commands for users without access',
    )
    .argument('<file>', 'the list, which the `restore --revocations` of each version reads')
    .addHelpText(
      'after',
      `
The list has a line for each key that was ever revoked, with its SHA-256. Without such a key there is
no file. The commands, on standard output, disable the users whom an operator has disabled or the
site has banned. docs/operations/upgrade.md leads through going back to an earlier version.

Example:
  server-listing revocations export revoked.txt > disable.sh`,
    )
    .action((file: string) => exportRevocations(shell, file))
}

async function exportRevocations(shell: Shell, file: string): Promise<void> {
  await withStore(shell, async ({ database }) => {
    const lines: string[] = []
    await revocations(database).readRevocations((hash, at) => lines.push(revocationLine(hash, at)))
    const users = await disabledUsers(database).listWithoutAccess()
    if (lines.length > 0) write(file, lines.join(''))
    for (const user of users) {
      const command = commandOf(user)
      if (command !== null) print(shell, command)
      else say(shell, `disable ${user.id} on the operator's page: the user has only an identity`)
    }
    const keys = countOf(lines.length, 'revoked key')
    say(
      shell,
      lines.length > 0 ? `wrote ${keys} to ${file}` : `0 revoked keys: no file was written`,
    )
  })
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') rmSync(file, { force: true })
    throw new Failure(
      `cannot write the list to ${quote(file)}: ${
        code === 'EEXIST' ? 'the file exists; name another one' : (error as Error).message
      }`,
    )
  }
}

/**
 * As a shell reads it. The external id comes first, because the address may have been another one
 * in the backup. An address can begin with a hyphen.
 */
function commandOf({ email, external_id }: NamedUser): string | null {
  const name = external_id ?? email
  if (name === null) return null
  const quoted = `'${name.replaceAll("'", `'\\''`)}'`
  return `server-listing user disable ${external_id === null ? '--' : '--external-id'} ${quoted}`
}
