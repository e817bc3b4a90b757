import type { Command } from 'commander'

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the API and the dashboard until SIGTERM or SIGINT')
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=sqlite:/var/lib/server-listing/listing.db PORT=80 ' +
        'server-listing serve',
    )
    .action(async () => {
      // Loaded on demand: no other command needs the service, which takes longer to load than they.
      const { serve } = await import('../serve/serve.ts')
      await serve()
    })
}
