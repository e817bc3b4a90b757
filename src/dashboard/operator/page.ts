import { html } from 'hono/html'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import { type OwnedAuditEntry, operator } from '../../directory/records/operator.ts'
import { nameOf } from '../../accounts/user.ts'
import type { Instant } from '../../model/instant.ts'
import { type Names, tellEvent } from '../../accounts/pages/event-words.ts'
import { count, countOf } from '../../model/text.ts'
import type { App, Dashboard } from '../../web/context.ts'
import { showNotFound, showPage } from '../../web/html/page.ts'
import { pill, showFacts, showTable } from '../../web/html/parts.ts'
import { agoInWords, showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { apiKeys } from '../../keys/records/api-keys.ts'
import { addActRoutes } from './acts.ts'
import { showUnusedKeys, showUsedKeys } from './keys.ts'
import { addUserRoute } from './user.ts'
import { addUserListRoute, showUserLink, showUserSearch, USERS_PATH } from './users.ts'

const ENTRIES_SHOWN = 30
const MEGABYTE = 1_000_000

/** Pages for operators alone: others get the answer to an unknown page. */
export function addOperatorRoutes(app: App, dashboard: AccountsDashboard): void {
  const { database, now } = dashboard

  app.use('/dashboard/operator/*', async (c, next) =>
    c.get('isOperator') ? next() : showNotFound(c),
  )
  addUserListRoute(app, dashboard)
  addUserRoute(app, dashboard)
  addActRoutes(app, dashboard)

  app.get('/dashboard/operator', async (c) => {
    const at = now()
    const health = await showHealth(dashboard, at)
    const counts = await operator(database).countRecords()
    const entries = await operator(database).listAudit(ENTRIES_SHOWN)
    const named = await apiKeys(database).findApiKeys(entries.map(({ subject }) => subject))
    const names = new Map(named.map(({ id, name }) => [id, name]))
    return showPage(c, {
      title: 'Operator',
      lead: 'The state of this service, and a way to help its users.',
      body: html`<section id="users"><h2>Users <span class="hint">${count(counts.users)}</span></h2>
${showUserSearch('')}
<p class="hint"><a href="${USERS_PATH}">All users</a> together have ${countOf(counts.servers, 'server')} and ${countOf(counts.organizations, 'organization')}.</p></section>
${health}
${await showUsedKeys(dashboard, counts.apiKeys, at)}
${await showUnusedKeys(dashboard, at)}
<section id="audit"><h2>Audit log</h2>
${showTable(
  'Audit log',
  ['When', 'User', 'What', 'From'],
  entries.map((entry) => showEntry(entry, names, at)),
)}</section>`,
    })
  })
}

/** Measures how long the database takes for an answer. */
async function showHealth({ database, version }: Dashboard, now: Instant): Promise<Html> {
  const startedAt = performance.now()
  const { engine, version: engineVersion, bytes } = await operator(database).describeDatabase()
  const tookMs = Math.ceil(performance.now() - startedAt)
  const started = agoInWords(now - Math.round(process.uptime() * 1_000_000), now)
  return showFacts('Service', [
    ['Health', html`${pill(`Database answers in ${tookMs} ms`, 'good')}`],
    ['Version', version],
    ['Database', `${engine} ${engineVersion}, ${inMegabytes(bytes)}`],
    ['This process', `started ${started}, ${inMegabytes(process.memoryUsage.rss())} of memory`],
    ['Node.js', process.version],
  ])
}

function inMegabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toLocaleString('en-US', { maximumFractionDigits: 1 })} MB`
}

function showEntry(entry: OwnedAuditEntry, names: Names, now: Instant): Html[] {
  const { user_id: id } = entry
  const name = id === null ? isolated('unknown') : isolated(nameOf({ ...entry, id }))
  // Without both, the user may have been removed.
  const isKnown = entry.email !== null || entry.external_id !== null
  const user = id !== null && isKnown ? showUserLink({ ...entry, id }) : name
  const address = html`<code>${entry.address}</code>`
  return [showAgo(entry.occurred_at, now), user, html`${tellEvent(entry, names)}`, address]
}
