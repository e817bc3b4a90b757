import { html } from 'hono/html'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import { type OwnedAuditEntry, operator } from '../../directory/records/operator.ts'
import type { OwnedApiKey } from '../../keys/records/owned-api-keys.ts'
import { nameOf } from '../../accounts/user.ts'
import type { Instant } from '../../model/instant.ts'
import { type Names, tellEvent } from '../../accounts/pages/event-words.ts'
import { count, countOf } from '../../model/text.ts'
import type { App, Dashboard } from '../../web/context.ts'
import { showNotFound, showPage } from '../../web/html/page.ts'
import { pill, showTable } from '../../web/html/parts.ts'
import { agoInWords, showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { apiKeys } from '../../keys/records/api-keys.ts'
import { addActRoutes } from './acts.ts'
import { showUnusedKeys } from './unused-keys.ts'
import { addUserRoute } from './user.ts'
import { addUserListRoute, showEnds, showUserLink, showUserSearch, USERS_PATH } from './users.ts'

const KEYS_SHOWN = 20
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
    const keys = await operator(database).listRecentApiKeys(KEYS_SHOWN)
    const entries = await operator(database).listAudit(ENTRIES_SHOWN)
    const named = await apiKeys(database).findApiKeys(entries.map(({ subject }) => subject))
    const names = new Map(named.map(({ id, name }) => [id, name]))
    return showPage(c, {
      title: 'Operator',
      lead: 'The state of this service, and a way to help its users.',
      body: html`<section id="users"><h2>Users ${inTotal(counts.users)}</h2>
${showUserSearch('')}
<p class="hint"><a href="${USERS_PATH}">All users</a> together have ${countOf(counts.servers, 'server')} and ${countOf(counts.organizations, 'organization')}.</p></section>
${health}
<section id="keys"><h2>Keys by last use ${inTotal(counts.apiKeys)}</h2>
${keys.length === 0 ? html`<p>No program has used a key yet.</p>` : showKeys(keys, at)}</section>
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

function inTotal(number: number): Html {
  return html`<span class="hint">${count(number)}</span>`
}

/** Measures how long the database takes for an answer. */
async function showHealth({ database, version }: Dashboard, now: Instant): Promise<Html> {
  const startedAt = performance.now()
  const { engine, version: engineVersion, bytes } = await operator(database).describeDatabase()
  const tookMs = Math.ceil(performance.now() - startedAt)
  const started = agoInWords(now - Math.round(process.uptime() * 1_000_000), now)
  const facts: [string, Html | string][] = [
    ['Health', html`${pill(`Database answers in ${tookMs} ms`, 'good')}`],
    ['Version', version],
    ['Database', `${engine} ${engineVersion}, ${inMegabytes(bytes)}`],
    ['This process', `started ${started}, ${inMegabytes(process.memoryUsage.rss())} of memory`],
    ['Node.js', process.version],
  ]
  return html`<section class="card"><h2>Service</h2>
<dl class="facts">${facts.map(([term, text]) => html`<div><dt class="hint">${term}</dt><dd>${text}</dd></div>`)}</dl></section>`
}

function inMegabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toLocaleString('en-US', { maximumFractionDigits: 1 })} MB`
}

function showKeys(apiKeys: readonly OwnedApiKey[], now: Instant): Html {
  const rows = apiKeys.map((apiKey) => showKey(apiKey, now))
  return showTable('Keys by last use', ['Last used', 'Key', 'Owner', 'Prefix'], rows)
}

function showKey(apiKey: OwnedApiKey, now: Instant): Html[] {
  const { name, prefix, user_id, revoked_at, last_used_at } = apiKey
  const deleted = revoked_at === null ? '' : html` ${pill('deleted')}`
  return [
    showAgo(last_used_at ?? 0, now),
    html`${isolated(name)}${deleted}`,
    html`${showUserLink({ ...apiKey, id: user_id })}${showEnds(apiKey)}`,
    html`<code>${prefix}…</code>`,
  ]
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
