import { html } from 'hono/html'
import {
  type AuditEntry,
  type RefusedSignIns,
  REFUSED_COUNTED_MAX,
  REFUSED_SHOWN_US,
} from '../../model/audit.ts'
import { HOUR_US, type Instant } from '../../model/instant.ts'
import { count } from '../../model/text.ts'
import { showTable } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import type { Html } from '../../web/html/text.ts'
import { type Names, tellEvent } from './event-words.ts'
import type { Database } from '../../database/database.ts'
import { audit } from '../records/audit.ts'
import { apiKeys } from '../../keys/records/api-keys.ts'
import { organizations } from '../../organizations/records/organizations.ts'

const EVENTS_SHOWN = 20
/** The addresses of wrong passwords that the page shows, those with the latest attempt first. */
const ADDRESSES_SHOWN = 5

/**
 * The user's latest events. Wrong passwords stand apart, so that a stranger can't push these off
 * the page.
 */
export async function showEvents(database: Database, userId: string, now: Instant): Promise<Html> {
  const events = await audit(database).listEvents(userId, EVENTS_SHOWN)
  const keys = await apiKeys(database).findApiKeys(
    events.filter(({ action }) => action.startsWith('key ')).map(({ subject }) => subject),
    userId,
  )
  const joined = await organizations(database).listOrganizations(userId)
  const names = new Map([...keys, ...joined].map(({ id, name }) => [id, name]))
  const refused = await audit(database).listRefusedSignIns(
    userId,
    now - REFUSED_SHOWN_US,
    ADDRESSES_SHOWN,
  )
  return html`${refused.length === 0 ? '' : showRefused(refused, now)}
<section id="events"><h2>Latest events</h2>
${showTable(
  'Latest events',
  ['When', 'What', 'From'],
  events.map((event) => showEvent(event, names, now)),
)}</section>`
}

function showEvent(entry: AuditEntry, names: Names, now: Instant): Html[] {
  const address = html`<code>${entry.address}</code>`
  return [showAgo(entry.occurred_at, now), html`${tellEvent(entry, names)}`, address]
}

function showRefused(refused: readonly RefusedSignIns[], now: Instant): Html {
  const sum = refused.reduce((total, { count }) => total + count, 0)
  const more = sum >= REFUSED_COUNTED_MAX ? ' or more' : ''
  return html`<section id="refused"><h2>Wrong passwords</h2>
<p>In the last ${REFUSED_SHOWN_US / HOUR_US} hours, sign-ins to your account were refused ${count(sum)}${more} ${sum === 1 ? 'time' : 'times'}, because the password was wrong. None of these attempts got in. If they were not yours, make sure that you use this password nowhere else.</p>
${showTable(
  'Wrong passwords',
  ['From', 'Attempts', 'Latest'],
  refused.map(({ address, count, occurred_at }) => [
    html`<code>${address}</code>`,
    count,
    showAgo(occurred_at, now),
  ]),
)}
${refused.length === ADDRESSES_SHOWN ? html`<p class="hint">Attempts from other addresses may not be shown.</p>` : ''}</section>`
}
