import { html } from 'hono/html'
import type { App, Context, Dashboard } from '../../web/context.ts'
import { showPage } from '../../web/html/page.ts'
import { showSteps } from '../../web/html/parts.ts'
import { isolated } from '../../web/html/text.ts'
import { serverExports } from '../../servers/records/server-exports.ts'
import { apiKeys } from '../../keys/records/api-keys.ts'

/** Three steps for a new user. Afterwards the dashboard starts with the servers. */
export function addStartRoutes(app: App, { database }: Dashboard): void {
  app.get('/dashboard', async (c) => {
    const { hasServer, hasKey } = await readProgress(c)
    return c.redirect(hasServer && hasKey ? '/dashboard/servers' : '/dashboard/start', 303)
  })

  app.get('/dashboard/start', async (c) => {
    const { hasServer, hasKey } = await readProgress(c)
    if (hasServer && hasKey) return c.redirect('/dashboard/servers', 303)
    return showPage(c, {
      title: 'Welcome',
      lead: 'Three steps, and your listing is available to any program you write.',
      body: html`${showSteps([
        {
          title: 'Create your account',
          text: html`Signed in as ${isolated(c.get('session').name)}`,
          isDone: true,
        },
        {
          title: 'Register your first server',
          text: 'A name and an address are enough.',
          isDone: hasServer,
          action: {
            href: '/dashboard/servers/new',
            label: 'Register a server',
            isMain: !hasServer,
          },
        },
        {
          title: 'Issue an API key and try it',
          text: 'You get commands and clients to copy. A key can make one request per second.',
          isDone: hasKey,
          action: { href: '/dashboard/api#issue', label: 'Issue a key', isMain: hasServer },
        },
      ])}
<p class="hint">Have a list already? <a href="/dashboard/servers/import">Import servers from JSON or CSV</a></p>
<p class="hint">What does a program get? Read the <a href="/docs">API documentation</a>.</p>`,
    })
  })

  /** Whether the user has a personal server and an active key. */
  async function readProgress(c: Context): Promise<{ hasServer: boolean; hasKey: boolean }> {
    const { userId } = c.get('session')
    const servers = await serverExports(database).previewListing(userId)
    const keys = await apiKeys(database).listApiKeys(userId, 0)
    return { hasServer: servers.length > 0, hasKey: keys.length > 0 }
  }
}
