import { html } from 'hono/html'
import type { ApiKey } from '../api-key.ts'
import type { Instant } from '../../model/instant.ts'
import { countOf } from '../../model/text.ts'
import type { Context, Dashboard } from '../../web/context.ts'
import type { Notice } from '../../web/html/page.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { takeTold, tellNext } from '../../web/request/next-notice.ts'
import { issuePathOf } from './forms.ts'
import { apiKeys } from '../records/api-keys.ts'

/*
 * What the page of keys says after a deletion.
 */

/** Of a text with leaked keys: the keys in it, those of the user, and when these were deleted. */
export function tellLeaked(
  dashboard: Dashboard,
  c: Context,
  found: number,
  own: number,
  at: Instant,
): void {
  tellNext(dashboard, c, 'keys-leaked', `${found}-${own}-${at}`)
}

export async function takeNotice(dashboard: Dashboard, c: Context): Promise<Notice | null> {
  const told = takeTold(dashboard, c, ['key-deleted', 'keys-leaked'])
  if (told === null) return null
  const { database } = dashboard
  const { userId } = c.get('session')
  if (told.outcome === 'key-deleted') {
    const deleted = await apiKeys(database).findApiKeys([told.id], userId)
    return deleted.length === 0 ? null : { kind: 'good', text: html`${sayDeleted(deleted)}` }
  }
  const [found = 0, own = 0, at = 0] = told.id.split('-').map(Number)
  const revoked = await apiKeys(database).listApiKeys(userId, own)
  const deleted = revoked.filter(({ revoked_at }) => revoked_at === at)
  const notice: Notice = { kind: 'good', text: sayLeaked(found, own, deleted) }
  return deleted.length === 0 ? notice : { ...notice, followUp: offerOthers(deleted) }
}

/** Programs need a new key in the place of a leaked one. */
function offerOthers(deleted: readonly ApiKey[]): Html {
  const links = deleted.map(
    ({ name }) =>
      html`<a class="button" href="${issuePathOf(name)}#name">Issue a new key named ${isolated(name)}</a>`,
  )
  return html`<div class="row">${links}</div>`
}

/** A user has at most five active keys, so this names them all. */
function sayDeleted(deleted: readonly ApiKey[]): Html {
  const last = deleted.length - 1
  const names = deleted.map(({ name }, index) => {
    const before = index === 0 ? '' : index === last ? ' and ' : ', '
    return html`${before}<b>${isolated(name)}</b>`
  })
  return last === 0
    ? html`${names} was deleted. Requests with it now get a 401.`
    : html`${names} were deleted. Requests with them now get a 401.`
}

function sayLeaked(found: number, own: number, deleted: readonly ApiKey[]): Html {
  const earlier = own - deleted.length
  const sentences = [
    ...(deleted.length > 0 ? [sayDeleted(deleted)] : []),
    ...(earlier > 0 ? [`${countOf(earlier, 'key')} in this text had been deleted earlier.`] : []),
    ...(found > own
      ? [
          `${countOf(found - own, 'key')} in this text ${found - own === 1 ? 'is' : 'are'} not yours.`,
        ]
      : []),
  ]
  return html`${sentences.map((sentence, index) => html`${index > 0 ? ' ' : ''}${sentence}`)}`
}
