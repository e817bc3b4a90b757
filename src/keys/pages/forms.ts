import { html } from 'hono/html'
import type { ApiKey } from '../api-key.ts'
import type { Instant } from '../../model/instant.ts'
import { ACTIVE_KEYS_MAX, KEY_NAME_LENGTH_MAX, PREFIX_LENGTH } from '../../model/key-format.ts'
import type { Context } from '../../web/context.ts'
import { AS_CODE, showField, showFormTag } from '../../web/html/form-field.ts'
import { showPage } from '../../web/html/page.ts'
import { showQuestion } from '../../web/html/question.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { showPrefix } from './shown-key.ts'
import { FORM_BYTES_MAX } from '../../web/request/guard.ts'

export const AT_KEY_LIMIT = `You have ${ACTIVE_KEYS_MAX} active keys, the maximum.`
const KEEP_ONE_FREE =
  'Keep one free to be able to replace a key: meanwhile you have the old one and the new one.'
const LAST_FREE = `This is your last free key. ${KEEP_ONE_FREE}`

/** The page of keys with the form to issue one, filled in with this name. */
export function issuePathOf(name = ''): string {
  return `/dashboard/api?name=${encodeURIComponent(name)}`
}

export interface IssueForm {
  name?: string | undefined
  nameError?: string
  /** The number of the user's active keys. */
  active: number
  /** True if the user has deleted keys. */
  hasDeleted: boolean
}

/** For a user without an active key, the form is all that the page has of keys. */
export function showIssueForm(form: IssueForm): Html {
  const { name = '', nameError, active, hasDeleted } = form
  const [title, text] =
    active > 0
      ? ['Issue a key', '']
      : [hasDeleted ? 'No active API keys' : 'No API keys yet', NEEDED]
  return html`<form class="card" id="issue" method="post" action="/dashboard/api">
<h2>${title}</h2>
${text === '' ? '' : html`<p>${text}</p>`}
${showFormTag()}
${showKeyName(name, `What the key is for, such as “Discord bot”. Use a separate key for each program, so you can delete one without breaking the others.${active === ACTIVE_KEYS_MAX - 1 ? ` ${LAST_FREE}` : ''}`, nameError)}
<div class="row"><button class="primary">Issue key</button>${
    active === 0
      ? ''
      : html`
<a class="button" href="/dashboard/api">Cancel</a>`
  }</div>
</form>`
}

const NEEDED = 'A program needs one to read your listing.'

export function showAtLimit(): Html {
  return html`<p class="hint" id="issue">${AT_KEY_LIMIT} Delete one you no longer use to issue another. ${KEEP_ONE_FREE}</p>`
}

/** Closed until a key has leaked: most visits don't need it. */
export function showLeakedForm(error: string | undefined): Html {
  return html`<details class="card"${error ? html` open` : ''}><summary>Has a key leaked?</summary>
<form class="stack" method="post" action="/dashboard/api/leaked">
<div class="field"><label for="leaked">Leaked text</label>
<p class="hint" id="leaked-hint">Paste the key, its first ${PREFIX_LENGTH} characters or the text that contains them, up to ${FORM_BYTES_MAX / 1_024} kB. Each of your keys in it is deleted at once.</p>
<textarea id="leaked" name="leaked" rows="3" translate="no" autocomplete="off"${AS_CODE} aria-describedby="leaked-hint${error ? ' leaked-error' : ''}"${error ? html` aria-invalid="true" autofocus` : ''}></textarea>
${error ? html`<p class="error" id="leaked-error">${error}</p>` : ''}</div>
<button>Delete leaked keys</button>
</form></details>`
}

export function showDeleteKey(c: Context, apiKey: ApiKey, now: Instant): Promise<Response> {
  return showQuestion(c, {
    title: 'Delete a key',
    asks: html`Delete the key ${isolated(apiKey.name)} (${showPrefix(apiKey)})?`,
    consequences: [
      'Programs that use it get a 401 at once. You can’t undo this.',
      apiKey.last_used_at === null
        ? 'No program has used it.'
        : html`It was last used ${showAgo(apiKey.last_used_at, now)}.`,
    ],
    button: html`Delete ${isolated(apiKey.name)}`,
    back: '/dashboard/api',
  })
}

/**
 * Asks before it issues a second key of the same name. The old key stays until it is deleted.
 * `active` is the number of the user's active keys.
 */
export function showReplaceKey(c: Context, apiKey: ApiKey, active: number): Promise<Response> {
  return showPage(c, {
    title: 'Replace a key',
    width: 'form',
    body: html`<form class="card" method="post" action="/dashboard/api">
<p>Replace the key ${isolated(apiKey.name)} (${showPrefix(apiKey)})?</p>
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
<div class="row"><button class="primary">Issue the new key</button>
<a class="button" href="/dashboard/api">Cancel</a></div>`
}
</form>`,
  })
}

/** The field for the name of a new key, or for another name of a key. */
export function showKeyName(value: string, hint: string, error: string | undefined): Html {
  return showField({
    name: 'name',
    label: 'Name',
    value,
    required: true,
    lengthMax: KEY_NAME_LENGTH_MAX,
    hint,
    error,
  })
}
