import type { Command } from 'commander'
import { addSettingOptions } from '../serve/options.ts'
import type { ServeOptions } from '../serve/serve.ts'
import type { Shell } from '../../terminal/shell.ts'

export function addServeCommand(program: Command, shell: Shell): void {
  const command = program
    .command('serve')
    .description('serve the API and the dashboard until SIGTERM or SIGINT')
  addSettingOptions(command)
  command
    .option(
      '--require-database',
      'exit with 78 instead of answering 503 if the database is not configured',
    )
    .addHelpText(
      'after',
      `
The environment has all settings; \`server-listing --help\` lists them. The command creates a
missing database and updates its schema. Other users of this machine can read a password after
--database, so leave it in DATABASE_URL or DATABASE_URL_FILE.

Examples:
  server-listing serve --port 8090 --database sqlite:listing.db
  server-listing serve --env-file /etc/server-listing.env`,
    )
    .action(async (options: ServeOptions) => {
      // Loaded on demand: no other command needs the service, which takes longer to load than they.
      const { serve } = await import('../serve/serve.ts')
      await serve(shell, options)
    })
}
