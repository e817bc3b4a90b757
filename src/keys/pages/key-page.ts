import { html } from 'hono/html'
import type { ApiKey } from '../api-key.ts'
import { SLOT_LENGTH_US } from '../../model/usage-counts.ts'
import { count } from '../../model/text.ts'
import { actorOf, type App, type Context, fieldOf } from '../../web/context.ts'
import { type Notice, showNotFound, showPage } from '../../web/html/page.ts'
import { showAction } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { sentence } from '../../web/html/sentence.ts'
import { type Html, isolated, isolatedText, showInstant } from '../../web/html/text.ts'
import { takeTold, tellNext } from '../../web/request/next-notice.ts'
import { apiKeys } from '../records/api-keys.ts'
import { renameApiKey } from '../records/renamed-keys.ts'
import { showKeyName } from './forms.ts'
import { type KeysDashboard, readCounts } from './page.ts'
import { showLastUse, showPrefix } from './shown-key.ts'
import { CHART_ASSETS, showUsageChart } from './usage/usage-chart.ts'
import { showSpans, spanOf } from './usage/usage-span.ts'
import { KINDS, totalOf, type Usage, usageOf } from './usage/usage-sums.ts'

interface KeyPage {
  /** What the form is filled in with, if it is not the name of the key. */
  name?: string | undefined
  nameError?: string
  notice?: Notice
  status?: 200 | 409 | 422
}

/** The page of one key, and the form on it that renames the key. */
export function addKeyPageRoutes(app: App, dashboard: KeysDashboard): void {
  const { database } = dashboard

  app.get('/dashboard/api/:id', async (c) => {
    const apiKey = await findOwn(dashboard, c)
    if (apiKey === null) return showNotFound(c)
    const notice = takeRenamed(dashboard, c, apiKey)
    return showKey(dashboard, c, apiKey, notice === null ? {} : { notice })
  })

  app.post('/dashboard/api/:id', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const name = fieldOf(c, 'name')
    const was = fieldOf(c, 'was')
    const typed = { name, ...(was === '' ? {} : { was }) }
    const actor = actorOf(dashboard, c)
    const renamed = await renameApiKey(database, userId, id, typed, actor)
    if (renamed === null) return showNotFound(c)
    if ('apiKey' in renamed) {
      tellNext(dashboard, c, 'key-renamed', renamed.apiKey.id)
      return c.redirect(`/dashboard/api/${id}`, 303)
    }
    const apiKey = await findOwn(dashboard, c)
    if (apiKey === null) return showNotFound(c)
    if (apiKey.revoked_at !== null) return showKey(dashboard, c, apiKey, DELETED)
    return showKey(dashboard, c, apiKey, {
      name,
      ...(renamed.because === 'name'
        ? { status: 422, nameError: sentence(renamed.refused) }
        : renamedElsewhere(apiKey)),
    })
  })
}

const DELETED: KeyPage = {
  status: 409,
  notice: { kind: 'bad', text: 'Nothing was saved: this key was deleted.' },
}

const renamedElsewhere = ({ name }: ApiKey): KeyPage => ({
  status: 409,
  notice: {
    kind: 'bad',
    text: html`Nothing was saved: another tab or program has renamed this key to ${isolated(name)}. Rename it again to replace that name.`,
  },
})

/** The user's key of the path, active or deleted. */
async function findOwn({ database }: KeysDashboard, c: Context): Promise<ApiKey | null> {
  const [found] = await apiKeys(database).findApiKeys(
    [c.req.param('id') ?? ''],
    c.get('session').userId,
  )
  return found ?? null
}

function takeRenamed(dashboard: KeysDashboard, c: Context, { id, name }: ApiKey): Notice | null {
  const told = takeTold(dashboard, c, ['key-renamed'])
  if (told?.id !== id) return null
  return { kind: 'good', text: html`The key is now named <b>${isolated(name)}</b>.` }
}

/** One key: its use, as a chart and as a list, and the form that renames it. */
async function showKey(
  dashboard: KeysDashboard,
  c: Context,
  apiKey: ApiKey,
  page: KeyPage,
): Promise<Response> {
  const span = spanOf(c.req.query('span'))
  const now = dashboard.now()
  const usage = usageOf(await readCounts(dashboard, [apiKey], span), span, now)
  const { id, name, created_at, revoked_at } = apiKey
  const path = `/dashboard/api/${id}`
  return showPage(c, {
    title: isolatedText(name),
    lead: html`${showPrefix(apiKey)} · ${showLastUse(apiKey, now)} · ${revoked_at === null ? html`Issued ${showAgo(created_at, now)}` : html`Deleted ${showAgo(revoked_at, now)}`}`,
    ...(revoked_at === null
      ? {
          actions: html`${showAction({ href: `${path}/replace`, label: 'Replace…' })}${showAction({ href: `${path}/delete`, label: 'Delete…' })}`,
        }
      : {}),
    status: page.status ?? 200,
    notice: page.notice,
    width: 'form',
    body: html`${CHART_ASSETS}<section>${showSpans(path, span)}
<div class="card">${showUsageChart(usage)}</div></section>
${apiKey.last_used_at === null && revoked_at === null ? showNoUse(path) : ''}
${revoked_at === null ? showRename(apiKey, page) : ''}
${totalOf(usage.sums) === 0 ? '' : showValues(usage)}
<p><a href="/dashboard/api">Back to your keys</a></p>`,
  })
}

/** What a user checks who has given a new key to a program. */
function showNoUse(path: string): Html {
  return html`<section class="card"><h2>No request yet</h2>
<p>No program has used this key. A request with a wrong or incomplete key gets a 401 and does not show here.</p>
<p><a class="button" href="${path}">Check again</a></p></section>`
}

function showRename({ id, name: stored }: ApiKey, { name = stored, nameError }: KeyPage): Html {
  return html`<form class="card" method="post" action="/dashboard/api/${id}"><h2>Rename</h2>
<input type="hidden" name="was" value="${stored}">
${showKeyName(name, 'Programs that use the key notice nothing.', nameError)}
<button>Rename</button></form>`
}

/** The values of the chart for every reader, newest first and without empty bars. */
function showValues({ span, from, bars }: Usage): Html {
  const length = span.slotsPerBar * SLOT_LENGTH_US
  const rows = bars
    .map((bar, index) => ({ bar, at: from + index * length }))
    .filter(({ bar }) => totalOf(bar) > 0)
    .toReversed()
  const kinds = KINDS.filter((kind) => rows.some(({ bar }) => bar[kind] > 0))
  return html`<details class="card"><summary id="values-of">Requests per ${span.bar}</summary>
<table class="values" id="values" aria-labelledby="values-of"><thead><tr><th scope="col">From</th>${kinds.map((kind) => html`<th scope="col">${HEADS[kind]}</th>`)}</tr></thead>
<tbody>${rows.map(({ bar, at }) => html`<tr><th scope="row">${showInstant(at)}</th>${kinds.map((kind) => html`<td>${count(bar[kind])}</td>`)}</tr>`)}</tbody></table></details>`
}

const HEADS = { answered: 'Answered', limited: 'Rate-limited (429)', revoked: 'Refused (401)' }
