import { html } from 'hono/html'
import type { ApiKey } from '../api-key.ts'
import { ACTIVE_KEYS_MAX } from '../../model/key-format.ts'
import type { Instant } from '../../model/instant.ts'
import type { Invitation } from '../../organizations/invitation.ts'
import { count } from '../../model/text.ts'
import { slotOf, type UsageCount } from '../../model/usage-counts.ts'
import type { Confirmation } from '../../accounts/pages/sign-in/confirmation.ts'
import type { Context } from '../../web/context.ts'
import { showInvitationNote } from '../../organizations/pages/invitation-note.ts'
import { type Notice, showPage } from '../../web/html/page.ts'
import { showAction, showEmpty } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated, truncated } from '../../web/html/text.ts'
import { showIssueForm, showLeakedForm } from './forms.ts'
import { showUsageChart } from './usage-chart.ts'

/** The most recently deleted keys that the page shows. */
export const REVOKED_SHOWN = 20
/** Bytes of a deleted key's name, for `truncated`. */
const DELETED_NAME_BYTES = 56
/** Deleted keys that the page shows with a chart. */
const CHARTS_OF_REVOKED_MAX = 1

/** What the page shows besides the keys. */
export interface KeysPage {
  name?: string
  nameError?: string
  passwordError?: string
  leakedError?: string
  notice?: Notice
  status?: 200 | 403 | 409 | 422 | 429
}

interface AllKeys extends KeysPage {
  /** Oldest first. */
  apiKeys: readonly ApiKey[]
  counts: readonly UsageCount[]
  now: Instant
  needed: Confirmation | null
  invitations: readonly Invitation[]
}

export function showKeys(c: Context, page: AllKeys): Promise<Response> {
  const active = page.apiKeys.filter(({ revoked_at }) => revoked_at === null)
  const revoked = page.apiKeys
    .filter(({ revoked_at }) => revoked_at !== null)
    .toSorted((a, b) => (b.revoked_at ?? 0) - (a.revoked_at ?? 0))
  const isRefused = ({ id }: ApiKey) =>
    page.counts.some(({ api_key_id, revoked: refused }) => api_key_id === id && refused > 0)
  const shown = revoked.slice(0, REVOKED_SHOWN)
  const stillUsed = shown.filter(isRefused)
  const quiet = shown.filter((apiKey) => !stillUsed.includes(apiKey))
  const hasOlder = revoked.length > shown.length
  // A link to a field focuses it, also without script.
  const href = active.length < ACTIVE_KEYS_MAX ? '#name' : '#issue'
  return showPage(c, {
    title: 'API keys',
    lead: html`A program sends a key to get your listing as JSON. Each key can make one request per second. <a href="/docs">API documentation</a>`,
    ...(active.length === 0 ? {} : { actions: showAction({ ...ISSUE, href }) }),
    errors: { name: page.nameError, password: page.passwordError, leaked: page.leakedError },
    status: page.status ?? 200,
    notice: page.notice,
    body: html`${showInvitationNote(page.invitations)}
${active.length === 0 ? showEmpty({ ...NO_KEYS, title: revoked.length === 0 ? 'No API keys yet' : 'No active API keys' }) : html`<section><h2>Active <span class="hint">${active.length} of ${ACTIVE_KEYS_MAX}</span></h2><ul class="rows keys">${active.map((apiKey, index) => showActive(apiKey, index, active, page))}</ul></section>`}
${showIssueForm(c, { ...page, active: active.length })}
${stillUsed.length > 0 ? showStillUsed(stillUsed, page) : ''}
${quiet.length > 0 || hasOlder ? showRevoked(quiet, hasOlder, page.now) : ''}
${showLeakedForm(page.leakedError)}`,
  })
}

const NO_KEYS = {
  icon: 'key',
  text: 'A program needs one to read your listing.',
  action: { href: '#name', label: 'Issue a key' },
} as const

const ISSUE = { label: 'Issue a key', icon: 'plus', isMain: true } as const

function showActive(apiKey: ApiKey, index: number, active: readonly ApiKey[], page: AllKeys): Html {
  const { id, name, prefix, created_at, last_used_at } = apiKey
  const { now } = page
  const path = `/dashboard/api/${id}`
  const used =
    last_used_at === null
      ? html`Never used. <a href="${path}/arrival" aria-labelledby="a${index} k${index}" id="a${index}">Has it arrived?</a>`
      : html`Last used ${showAgo(last_used_at, now)}`
  const isReplaced = active.slice(index + 1).some((newer) => newer.name === name)
  const action = (word: string, verb: string) =>
    html`<a class="button quiet" href="${path}/${verb}" id="${verb}${index}" aria-labelledby="${verb}${index} k${index} p${index}">${word}</a>`
  return html`<li><div><h3 id="k${index}">${isolated(name)}</h3><code id="p${index}">${prefix}…</code>
<p><span>${used}</span> <span>Issued ${showAgo(created_at, now)}</span></p>
${isReplaced ? html`<p>A newer key has the same name. Delete this one once your programs use the new one.</p>` : ''}</div>
${showUsageChart(countsOf(apiKey, page), slotOf(now))}
<span class="row">${action('Replace…', 'replace')}${action('Delete…', 'delete')}</span></li>
`
}

function countsOf({ id }: ApiKey, { counts }: AllKeys): UsageCount[] {
  return counts.filter(({ api_key_id }) => api_key_id === id)
}

function showStillUsed(stillUsed: readonly ApiKey[], page: AllKeys): Html {
  return html`<section><h2>Deleted, but still asking</h2>
<p>Programs still use these deleted keys. Every request gets a 401. Give those programs another key, or stop them.</p>
<ul class="rows keys">${stillUsed.map((apiKey, index) => {
    const counts = countsOf(apiKey, page)
    const refused = counts.reduce((sum, { revoked }) => sum + revoked, 0)
    return html`<li>${showDeleted(apiKey, page.now)}
${index < CHARTS_OF_REVOKED_MAX ? showUsageChart(counts, slotOf(page.now)) : html`<p class="hint">${count(refused)} refused after deletion (401)</p>`}</li>`
  })}</ul></section>`
}

function showRevoked(quiet: readonly ApiKey[], hasOlder: boolean, now: Instant): Html {
  return html`<section><h2>Deleted keys</h2>
${quiet.length > 0 ? html`<ul class="rows">${quiet.map((apiKey) => html`<li>${showDeleted(apiKey, now)}</li>`)}</ul>` : ''}
${hasOlder ? html`<p class="hint">Older deleted keys are not shown.</p>` : ''}</section>`
}

function showDeleted({ name, prefix, revoked_at, last_used_at }: ApiKey, now: Instant): Html {
  const used = last_used_at === null ? 'Never used' : html`Last used ${showAgo(last_used_at, now)}`
  return html`<div><h3>${truncated(name, DELETED_NAME_BYTES)}</h3><p><code>${prefix}…</code> <span>Deleted ${showAgo(revoked_at ?? 0, now)}</span> <span>${used}</span></p></div>`
}
