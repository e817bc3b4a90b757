import { html } from 'hono/html'
import type { App, Context, Dashboard, Site } from '../../web/context.ts'
import { showPage } from '../../web/html/page.ts'
import { showSteps, type Step } from '../../web/html/parts.ts'
import { manageAt, showSite } from '../../web/html/site.ts'
import { isolated } from '../../web/html/text.ts'
import { serverExports } from '../../servers/records/server-exports.ts'
import { apiKeys } from '../../keys/records/api-keys.ts'

/** Three steps for a new user. Afterwards the dashboard starts with the servers. */
export function addStartRoutes(app: App, { database, site }: Dashboard): void {
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
        { ...firstServer(site), isDone: hasServer },
        {
          title: 'Issue an API key and try it',
          text: 'You get commands and clients to copy. A key can make one request per second.',
          isDone: hasKey,
          action: { href: '/dashboard/api#issue', label: 'Issue a key', isMain: hasServer },
        },
      ])}
${site.managesServers ? '' : IMPORT}
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

const IMPORT = html`<p class="hint">Have a list already? <a href="/dashboard/servers/import">Import servers from JSON or CSV</a></p>`
const REGISTER = { href: '/dashboard/servers/new', label: 'Register a server', isMain: true }

/** The step that leads to the first server of the listing. */
function firstServer(site: Site): Omit<Step, 'isDone'> {
  if (!site.managesServers)
    return {
      title: 'Register your first server',
      text: 'A name and an address are enough.',
      action: REGISTER,
    }
  return {
    title: 'Add your first server',
    text: html`Servers are managed at ${showSite(site)}.`,
    action: manageAt(site),
  }
}
