import { html } from 'hono/html'
import { type ApiKey, isUnused, UNUSED_US } from '../api-key.ts'
import { ACTIVE_KEYS_MAX } from '../../model/key-format.ts'
import { DAY_US, type Instant } from '../../model/instant.ts'
import { count } from '../../model/text.ts'
import type { UsageCount } from '../../model/usage-counts.ts'
import type { Context } from '../../web/context.ts'
import { type Notice, showPage } from '../../web/html/page.ts'
import { showAction } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { issuePathOf, showAtLimit, showIssueForm, showLeakedForm } from './forms.ts'
import { showLastUse, showPrefix } from './shown-key.ts'
import { CHART_ASSETS, showUsageChart } from './usage/usage-chart.ts'
import {
  firstSlotOf,
  LAST_DAY,
  pathWith,
  showSpans,
  spanOf,
  type UsageSpan,
} from './usage/usage-span.ts'
import { usageOf } from './usage/usage-sums.ts'
import { apiKeys } from '../records/api-keys.ts'
import { usageCounts } from '../records/usage-counts.ts'
import type { UsageCounter } from '../usage/usage-counter.ts'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'

/** The most recently deleted keys that the page shows. */
export const REVOKED_SHOWN = 20
/** Deleted keys that the page shows with a chart. */
const CHARTS_OF_REVOKED_MAX = 1

/** What the pages of keys need, beside what the pages of accounts need. */
export interface KeysDashboard extends AccountsDashboard {
  counter: UsageCounter
}

/** What the page shows besides the keys. */
export interface KeysPage {
  /** Fills in the form to issue a key. Without a name, users with keys see no form. */
  name?: string | undefined
  nameError?: string
  leakedError?: string
  notice?: Notice
  status?: 200 | 409 | 422
}

/** How the keys were used. */
interface Uses {
  span: UsageSpan
  /** Of active keys in the span of the page, and of deleted keys in the last day. */
  counts: readonly UsageCount[]
  now: Instant
}

/** Shows the page of the user's keys. */
export async function showKeys(
  dashboard: KeysDashboard,
  c: Context,
  page: KeysPage,
): Promise<Response> {
  const { userId } = c.get('session')
  const keys = await apiKeys(dashboard.database).listApiKeys(userId, REVOKED_SHOWN + 1)
  const now = dashboard.now()
  const span = spanOf(c.req.query('span'))
  const active = keys.filter(({ revoked_at }) => revoked_at === null)
  const revoked = keys
    .filter(({ revoked_at }) => revoked_at !== null)
    .toSorted((a, b) => (b.revoked_at ?? 0) - (a.revoked_at ?? 0))
  const counts = [
    ...(await readCounts(dashboard, active, span)),
    ...(await readCounts(dashboard, revoked, LAST_DAY)),
  ]
  const uses = { span, counts, now }
  const isRefused = ({ id }: ApiKey) =>
    counts.some(({ api_key_id, revoked: refused }) => api_key_id === id && refused > 0)
  const shown = revoked.slice(0, REVOKED_SHOWN)
  const stillUsed = shown.filter(isRefused)
  const quiet = shown.filter((apiKey) => !stillUsed.includes(apiKey))
  const hasOlder = revoked.length > shown.length
  const isFull = active.length >= ACTIVE_KEYS_MAX
  const asksForName = !isFull && (active.length === 0 || page.name !== undefined)
  return showPage(c, {
    title: 'API keys',
    lead: html`A program sends a key to get your listing as JSON. Each key can make one request per second. <a href="/docs">API documentation</a>`,
    ...(isFull || asksForName ? {} : { actions: showAction(ISSUE) }),
    errors: { name: page.nameError, leaked: page.leakedError },
    status: page.status ?? 200,
    notice: page.notice,
    body: html`${CHART_ASSETS}
${asksForName ? showIssueForm({ ...page, active: active.length, hasDeleted: revoked.length > 0 }) : ''}
${active.length === 0 ? '' : showActive(active, uses)}
${stillUsed.length > 0 ? showStillUsed(stillUsed, uses) : ''}
${quiet.length > 0 || hasOlder ? showRevoked(quiet, hasOlder, now) : ''}
${showLeakedForm(page.leakedError)}`,
  })
}

// A link to a field focuses it, also without script.
const ISSUE = {
  href: `${issuePathOf()}#name`,
  label: 'Issue a key',
  icon: 'plus',
  isMain: true,
} as const

function showActive(active: readonly ApiKey[], uses: Uses): Html {
  const { now, span } = uses
  const unused = active.filter((apiKey) => isUnused(apiKey, now - UNUSED_US)).length
  return html`<section><div class="row pages"><h2>Active <span class="hint">${active.length} of ${ACTIVE_KEYS_MAX}</span></h2>${showSpans('/dashboard/api', span)}</div>
${active.length < ACTIVE_KEYS_MAX ? '' : showAtLimit()}
${unused === 0 ? '' : html`<p class="hint">${unused === 1 ? 'One key has' : `${unused} keys have`} been unused for ${UNUSED_US / DAY_US} days. Delete keys that no program needs.</p>`}
<ul class="rows keys">${active.map((apiKey, index) => showRow(apiKey, index, active, uses))}</ul></section>`
}

function showRow(apiKey: ApiKey, index: number, active: readonly ApiKey[], uses: Uses): Html {
  const { id, name, created_at, last_used_at } = apiKey
  const { now, span } = uses
  const path = `/dashboard/api/${id}`
  const check =
    last_used_at === null
      ? html` <a href="${path}" aria-labelledby="a${index} k${index}" id=a${index}>Check now</a>`
      : ''
  const isReplaced = active.slice(index + 1).some((newer) => newer.name === name)
  const action = (word: string, verb: string, id: string) =>
    html`<a class="button quiet" href="${path}/${verb}" id=${id} aria-labelledby="${id} k${index} p${index}">${word}</a>`
  return html`<li><div><a href="${pathWith(path, span)}" id=k${index}>${isolated(name)}</a>
<p><span id=p${index}>${showPrefix(apiKey)}</span> <span>${showLastUse(apiKey, now)}</span>${check} <span>Issued ${showAgo(created_at, now)}</span></p>
${isReplaced ? html`<p>A newer key has the same name. Delete this one once your programs use the new one.</p>` : ''}</div>
${showUsageChart(usageOf(countsOf(apiKey, uses), span, now), linkToValues(pathWith(path, span), `k${index}`))}
<span class=row>${action('Replace…', 'replace', `r${index}`)}${action('Delete…', 'delete', `x${index}`)}</span></li>
`
}

/** `name` is the id of the element with the key's name. */
function linkToValues(path: string, name: string): Html {
  return html`<a href="${path}#values" id=v${name} aria-labelledby="v${name} ${name}">Values</a>`
}

function countsOf({ id }: ApiKey, { counts }: Uses): UsageCount[] {
  return counts.filter(({ api_key_id }) => api_key_id === id)
}

function showStillUsed(stillUsed: readonly ApiKey[], uses: Uses): Html {
  const { now } = uses
  return html`<section><h2>Deleted, but still in use</h2>
<p>Programs used these deleted keys in the last ${LAST_DAY.inWords}. Every request gets a 401. Give those programs another key, or stop them.</p>
<ul class="rows keys">${stillUsed.map((apiKey, index) => {
    const counts = countsOf(apiKey, uses)
    const refused = counts.reduce((sum, { revoked }) => sum + revoked, 0)
    return html`<li>${showDeleted(apiKey, now, `d${index}`)}
${index < CHARTS_OF_REVOKED_MAX ? showUsageChart(usageOf(counts, LAST_DAY, now), linkToValues(`/dashboard/api/${apiKey.id}`, `d${index}`)) : html`<p class="hint">${count(refused)} refused after deletion (401)</p>`}</li>`
  })}</ul></section>`
}

function showRevoked(quiet: readonly ApiKey[], hasOlder: boolean, now: Instant): Html {
  return html`<section><h2>Deleted keys</h2>
${quiet.length > 0 ? html`<ul class="rows">${quiet.map((apiKey) => html`<li>${showDeleted(apiKey, now)}</li>`)}</ul>` : ''}
${hasOlder ? html`<p class="hint">Older deleted keys are not shown.</p>` : ''}</section>`
}

function showDeleted(apiKey: ApiKey, now: Instant, id?: string): Html {
  const { name, revoked_at } = apiKey
  return html`<div><h3${id === undefined ? '' : html` id="${id}"`}>${isolated(name)}</h3><p>${showPrefix(apiKey)} <span>Deleted ${showAgo(revoked_at ?? 0, now)}</span> <span>${showLastUse(apiKey, now)}</span></p></div>`
}

/** The counts of these keys in a span, also those that are not written yet. */
export async function readCounts(
  { database, counter, now }: KeysDashboard,
  keys: readonly ApiKey[],
  span: UsageSpan,
): Promise<UsageCount[]> {
  const ids = keys.map(({ id }) => id)
  const written = await usageCounts(database).listUsageCounts(ids, firstSlotOf(span, now()))
  return [...written, ...counter.unwritten(ids)]
}
