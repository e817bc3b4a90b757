import type { Command } from 'commander'
import { ACTIVE_KEYS_MAX, FIXED_PREFIX } from '../../model/key-format.ts'
import { EXTERNAL_ID } from '../../accounts/commands/named-user.ts'
import type { ImportKeysOptions } from './import-keys.ts'
import type { Shell } from '../../terminal/shell.ts'

export function addImportCommand(key: Command, shell: Shell): void {
  key
    .command('import')
    .description('add keys of another site by their SHA-256, so that they keep working')
    .usage('[--user <email>] --hash-file <file>')
    .option('--user <email>', 'the email address of the owner, unless each row names its own')
    .option(...EXTERNAL_ID)
    .option('--hash-file <file>', 'CSV or JSON with a key_hash and a name per key; - for stdin')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
A key_hash is the SHA-256 of a full key in hex. The columns prefix, last_used_at, created_at and
revoked_at are optional. The API accepts only keys that begin with ${FIXED_PREFIX}, which a hash does
not show. Without a user on the command line, each row names its own in the column email or
external_id. A user can have ${ACTIVE_KEYS_MAX} active keys. docs/declared-state.md describes the file.

Examples:
  server-listing key import --user ada@example.com --hash-file keys.csv
  server-listing key import --hash-file keys-of-all.csv`,
    )
    .action(async (options: ImportKeysOptions) => {
      // Loaded on demand, because it brings the rules of state files.
      const { importKeys } = await import('./import-keys.ts')
      await importKeys(shell, options)
    })
}
