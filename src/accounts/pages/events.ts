import { html } from 'hono/html'
import { REFUSED_COUNTED_MAX, REFUSED_SHOWN_US } from '../../model/audit.ts'
import { HOUR_US, type Instant } from '../../model/instant.ts'
import { count } from '../../model/text.ts'
import { showTable } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import type { Html } from '../../web/html/text.ts'
import { tellEvent } from './event-words.ts'
import type { Database } from '../../database/database.ts'
import { audit } from '../records/audit.ts'
import { apiKeys } from '../../keys/records/api-keys.ts'
import { organizations } from '../../organizations/records/organizations.ts'

const EVENTS_SHOWN = 20
/** The addresses of wrong passwords that the page shows, those with the latest attempt first. */
const ADDRESSES_SHOWN = 5

/** The user's latest events, without wrong passwords: a stranger could push the others off. */
export async function showEvents(database: Database, userId: string, now: Instant): Promise<Html> {
  const events = await audit(database).listEvents(userId, EVENTS_SHOWN)
  const keys = await apiKeys(database).findApiKeys(
    events.map(({ subject }) => subject),
    userId,
  )
  const joined = await organizations(database).listOrganizations(userId)
  const names = new Map([...keys, ...joined].map(({ id, name }) => [id, name]))
  const title = 'Latest events'
  const rows = events.map((event) => [
    showAgo(event.occurred_at, now),
    html`${tellEvent(event, names)}`,
    html`<code>${event.address}</code>`,
  ])
  return html`<section id="events"><h2>${title}</h2>
${rows.length === 0 ? html`<p>The audit log has no entry about this account.</p>` : showTable(title, ['When', 'What', 'From'], rows)}</section>`
}

/** The user's wrong passwords of late, by address. */
export async function showRefused(
  database: Database,
  userId: string,
  now: Instant,
): Promise<Html | ''> {
  const since = now - REFUSED_SHOWN_US
  const refused = await audit(database).listRefusedSignIns(userId, since, ADDRESSES_SHOWN)
  if (refused.length === 0) return ''
  const title = 'Wrong passwords'
  const sum = refused.reduce((total, { count }) => total + count, 0)
  const more = sum >= REFUSED_COUNTED_MAX ? ' or more' : ''
  return html`<section id="refused"><h2>${title}</h2>
<p>In the last ${REFUSED_SHOWN_US / HOUR_US} hours, sign-ins to your account were refused ${count(sum)}${more} ${sum === 1 ? 'time' : 'times'}, because the password was wrong. None of these attempts got in. If they were not yours, make sure that you use this password nowhere else.</p>
${showTable(
  title,
  ['From', 'Attempts', 'Latest'],
  refused.map(({ address, count, occurred_at }) => [
    html`<code>${address}</code>`,
    count,
    showAgo(occurred_at, now),
  ]),
)}
${refused.length === ADDRESSES_SHOWN ? html`<p class="hint">Attempts from other addresses may not be shown.</p>` : ''}</section>`
}
