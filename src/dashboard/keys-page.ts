import { html } from 'hono/html'
import { ACTIVE_KEYS_MAX, type ApiKey, KEY_NAME_LENGTH_MAX } from '../listing/api-key.ts'
import type { Invitation } from '../listing/invitation.ts'
import type { UseCount } from '../listing/use-counts.ts'
import { showField, showFormTag } from './form-field.ts'
import { showInvitationNote } from './invitations.ts'
import { type Html, NAME_BYTES, shown, shownInstant, shownShort, showPage } from './page.ts'
import { showUsePicture } from './use-picture.ts'
import type { Visit } from './visit.ts'

/** Deleted keys on the page: the latest. */
export const REVOKED_SHOWN = 20
/** Pictures of deleted keys on the page. */
const ASKED_SHOWN = 3

/** What the page of all keys shows besides them. */
export interface KeysPage {
  name?: string
  nameError?: string
  passwordError?: string
  leakedError?: string
  message?: Html
  status?: 200 | 403 | 409 | 422 | 429 | 503
}

interface AllKeys extends KeysPage {
  /** Oldest first. */
  apiKeys: readonly ApiKey[]
  counts: readonly UseCount[]
  /** The slot that is being counted now. */
  slot: number
  asksPassword: boolean
  invitations: readonly Invitation[]
}

export function showKeys(visit: Visit, page: AllKeys): Promise<Response> {
  const active = page.apiKeys.filter(({ revoked_at }) => revoked_at === null)
  const revoked = page.apiKeys
    .filter(({ revoked_at }) => revoked_at !== null)
    .toSorted((a, b) => (b.revoked_at ?? 0) - (a.revoked_at ?? 0))
  return showPage(visit, {
    title: 'API keys',
    status: page.status ?? 200,
    body: html`${page.message ?? ''}${showInvitationNote(page.invitations)}
${active.length === 0 ? html`<p class="empty">No keys yet. Issue one below and give it to the program that asks the API for your servers.</p>` : html`<ul class="cards">${active.map((apiKey) => showActive(apiKey, page))}</ul>`}
${active.length < ACTIVE_KEYS_MAX ? showIssueForm(page, active.length) : showLimit(page)}
${revoked.length > 0 ? showRevoked(revoked, page) : ''}
${showLeakedForm(page)}`,
  })
}

function showActive(apiKey: ApiKey, { counts, slot }: AllKeys): Html {
  const own = counts.filter(({ api_key_id }) => api_key_id === apiKey.id)
  return html`<li class="card">
<div class="row"><h2 id="k${apiKey.id}">${shown(apiKey.name)}</h2>
<a class="danger" href="/dashboard/api/${apiKey.id}/delete" aria-describedby="k${apiKey.id}">Delete…</a>
</div>
<dl class="facts">
<div><dt>Begins with</dt><dd><code>${apiKey.prefix}…</code></dd></div>
<div><dt>Issued</dt><dd>${shownInstant(apiKey.created_at)}</dd></div>
<div><dt>Last used</dt><dd>${apiKey.last_used_at === null ? 'never' : shownInstant(apiKey.last_used_at)}</dd></div>
<div><dt>State</dt><dd><span class="state good">active</span></dd></div>
</dl>
${showUsePicture(own, slot)}
</li>`
}

function showIssueForm({ name, nameError, passwordError, asksPassword }: AllKeys, active: number) {
  return html`<form class="card" method="post" action="/dashboard/api">
<h2>Issue a key</h2>
${showFormTag()}
${showField({
  name: 'name',
  label: 'Name',
  value: name ?? '',
  required: true,
  lengthMax: KEY_NAME_LENGTH_MAX,
  hint: 'What it is for, such as “Discord bot”. One key for each program, so that you can delete one alone.',
  error: nameError,
})}
${asksPassword ? showPassword(passwordError) : ''}
<div class="row"><button>Issue the key</button><span class="hint">${active} of ${ACTIVE_KEYS_MAX} active</span></div>
</form>`
}

function showPassword(error: string | undefined): Html {
  return showField({
    name: 'password',
    label: 'Your password',
    type: 'password',
    autocomplete: 'current-password',
    hint: 'You signed in more than ten minutes ago.',
    error,
  })
}

function showLimit({ name }: AllKeys): Html {
  return html`<section class="card"><h2>Issue a key</h2>
<p>You have ${ACTIVE_KEYS_MAX} active keys, which is the most. Delete one that is no longer used${name ? html`, then issue ${shown(name)}` : ''}: deleted keys do not count.</p></section>`
}

function showRevoked(revoked: readonly ApiKey[], { counts, slot }: AllKeys): Html {
  const usesOf = ({ id }: ApiKey) => counts.filter(({ api_key_id }) => api_key_id === id)
  const asked = revoked.filter((apiKey) => usesOf(apiKey).length > 0)
  return html`<section><h2>Deleted keys</h2>
${
  asked.length === 0
    ? ''
    : html`<p>Something still asks, or asked today, with these. It gets a 401.</p><ul class="cards">
${asked.slice(0, ASKED_SHOWN).map((apiKey) => html`<li class="card"><h3>${shownShort(apiKey.name, NAME_BYTES)}</h3>${showUsePicture(usesOf(apiKey), slot)}</li>`)}</ul>`
}
<ul class="rows">${revoked.slice(0, REVOKED_SHOWN).map(showRevokedRow)}</ul>
${revoked.length > REVOKED_SHOWN ? html`<p class="hint">and others, deleted earlier</p>` : ''}</section>`
}

function showRevokedRow({ name, prefix, revoked_at, last_used_at }: ApiKey): Html {
  const used = last_used_at === null ? 'never used' : html`last used ${shownInstant(last_used_at)}`
  return html`<li><div><strong>${shownShort(name, NAME_BYTES)}</strong><p><code>${prefix}…</code> <span>deleted ${shownInstant(revoked_at ?? 0)}</span> <span>${used}</span></p></div>`
}

function showLeakedForm({ leakedError }: AllKeys): Html {
  return html`<form class="card" method="post" action="/dashboard/api/leaked">
<h2>Has a key leaked?</h2>
${showField({
  name: 'leaked',
  label: 'The leaked text',
  type: 'password',
  hint: 'Paste the key, or the line it was found in. If it is one of yours, it is deleted at once.',
  error: leakedError,
})}
<button class="secondary">Delete the leaked key</button>
</form>`
}

export function showDeleteKey(visit: Visit, apiKey: ApiKey): Promise<Response> {
  return showPage(visit, {
    title: 'Delete a key',
    body: html`<form class="card" method="post" action="/dashboard/api/${apiKey.id}/delete">
<p>Delete the key ${shown(apiKey.name)} (<code>${apiKey.prefix}…</code>)?</p>
<p>Whatever uses it gets a 401 from the moment it is deleted. This cannot be undone.</p>
<p>${apiKey.last_used_at === null ? 'It was never used.' : html`It was last used ${shownInstant(apiKey.last_used_at)}.`}</p>
<div class="row"><button class="danger">Delete ${shown(apiKey.name)}</button><a href="/dashboard/api">Keep it</a></div>
</form>`,
  })
}
