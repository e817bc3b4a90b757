import { html } from 'hono/html'
import type { ApiKey } from '../api-key.ts'
import type { Instant } from '../../model/instant.ts'
import { ACTIVE_KEYS_MAX, KEY_NAME_LENGTH_MAX } from '../../model/key-format.ts'
import { type Confirmation, showConfirmation } from '../../accounts/pages/sign-in/confirmation.ts'
import type { Context } from '../../web/context.ts'
import { AS_CODE, showField, showFormTag } from '../../web/html/form-field.ts'
import { showPage } from '../../web/html/page.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { FORM_BYTES_MAX } from '../../web/request/guard.ts'

export const AT_KEY_LIMIT = `You have ${ACTIVE_KEYS_MAX} active keys, the maximum.`
const LAST_FREE =
  'This is the last free key. Without a free one, you can’t replace a key before you delete another.'

interface IssueForm {
  name?: string
  nameError?: string
  passwordError?: string | undefined
  needed: Confirmation | null
  /** The number of the user's active keys. */
  active: number
}

export function showIssueForm(c: Context, form: IssueForm): Html {
  const { name = '', nameError, active, needed, passwordError } = form
  const next = `/dashboard/api${name === '' ? '' : `?name=${encodeURIComponent(name)}`}`
  if (active >= ACTIVE_KEYS_MAX)
    return html`<section class="card" id="issue"><h2>Issue a key</h2>
<p>${AT_KEY_LIMIT} Delete one you no longer use to issue another. Keep one free: while you replace a key, you have the old one and the new one.</p></section>`
  return html`<form class="card" id="issue" method="post" action="/dashboard/api">
<h2>Issue a key</h2>
${showFormTag()}
${showField({
  name: 'name',
  label: 'Name',
  value: name,
  required: true,
  lengthMax: KEY_NAME_LENGTH_MAX,
  hint: `What the key is for, such as “Discord bot”. Use a separate key for each program, so you can delete one without breaking the others.${active === ACTIVE_KEYS_MAX - 1 ? ` ${LAST_FREE}` : ''}`,
  error: nameError,
})}
${showConfirmation(c, needed, next, passwordError)}
<button class="primary">Issue key</button>
</form>`
}

/** Closed until a key has leaked: most visits don't need it. */
export function showLeakedForm(error: string | undefined): Html {
  return html`<details class="card"${error ? html` open` : ''}><summary>Has a key leaked?</summary>
<form class="stack" method="post" action="/dashboard/api/leaked">
<div class="field"><label for="leaked">Leaked text</label>
<p class="hint" id="leaked-hint">Paste the key, or the text that contains it, up to ${FORM_BYTES_MAX / 1_024} kB. Each of your keys in it is deleted at once. Only a complete key can be recognized.</p>
<textarea id="leaked" name="leaked" rows="3" autocomplete="off"${AS_CODE} aria-describedby="leaked-hint${error ? ' leaked-error' : ''}"${error ? html` aria-invalid="true" autofocus` : ''}></textarea>
${error ? html`<p class="error" id="leaked-error">${error}</p>` : ''}</div>
<button>Delete leaked keys</button>
</form></details>`
}

export function showDeleteKey(c: Context, apiKey: ApiKey, now: Instant): Promise<Response> {
  return showPage(c, {
    title: 'Delete a key',
    width: 'form',
    body: html`<form class="card" method="post" action="/dashboard/api/${apiKey.id}/delete">
<p>Delete the key ${isolated(apiKey.name)} (<code>${apiKey.prefix}…</code>)?</p>
<p>Programs that use it get a 401 at once. You can’t undo this.</p>
<p>${apiKey.last_used_at === null ? 'No program has used it.' : html`It was last used ${showAgo(apiKey.last_used_at, now)}.`}</p>
<div class="row"><button class="danger">Delete ${isolated(apiKey.name)}</button>
<a class="button" href="/dashboard/api">Cancel</a></div>
</form>`,
  })
}

interface Replacement {
  needed: Confirmation | null
  /** The number of the user's active keys. */
  active: number
}

/** Asks before it issues a second key of the same name. The old key stays until it is deleted. */
export function showReplaceKey(
  c: Context,
  apiKey: ApiKey,
  { needed, active }: Replacement,
): Promise<Response> {
  return showPage(c, {
    title: 'Replace a key',
    width: 'form',
    body: html`<form class="card" method="post" action="/dashboard/api">
<p>Replace the key ${isolated(apiKey.name)} (<code>${apiKey.prefix}…</code>)?</p>
${
  active >= ACTIVE_KEYS_MAX
    ? html`<p>${AT_KEY_LIMIT} To replace one, first delete another one that you no longer use.</p>
<p><a href="/dashboard/api">Back to your keys</a></p>`
    : html`<ol><li>You get a new key with the same name.</li>
<li>Give it to your programs. The old key works meanwhile.</li>
<li>Delete the old key once its chart shows no more requests.</li></ol>
${showFormTag()}
<input type="hidden" name="name" value="${apiKey.name}">
<input type="hidden" name="replaces" value="${apiKey.id}">
${showConfirmation(c, needed, c.req.path)}
<div class="row"><button class="primary">Issue the new key</button>
<a class="button" href="/dashboard/api">Cancel</a></div>`
}
</form>`,
  })
}
