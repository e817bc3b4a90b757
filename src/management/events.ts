import { auditEvents } from '../accounts/records/audit-events.ts'
import { formatInstant } from '../model/instant.ts'
import { type Answer, json, refuse } from './answers.ts'
import type { Call, Management, Route } from './call.ts'

const EVENTS = 100
const EVENTS_MAX = 1_000

export const eventRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/v1\/events$/, query: ['after', 'limit'], answer: listEvents },
]

async function listEvents({ database }: Management, { query }: Call): Promise<Answer> {
  const given = query.get('limit') ?? String(EVENTS)
  const limit = /^\d{1,4}$/.test(given) ? Number(given) : 0
  if (limit < 1 || limit > EVENTS_MAX)
    return refuse(400, `The limit must be a number from 1 to ${EVENTS_MAX}.`)
  const read = await auditEvents(database).readEvents(query.get('after'), limit)
  if (read === null) return GONE
  return json({
    events: read.events.map(
      ({ id, action, user_id, email, external_id, subject, address, occurred_at }) => ({
        id,
        action,
        user_id,
        email,
        external_id,
        subject,
        address,
        occurred_at: formatInstant(occurred_at),
      }),
    ),
    next: read.next,
  })
}

const GONE = refuse(
  410,
  'The log has no entry at this cursor any more: a restore has changed the log, or the entry was ' +
    'older than the log. Read what you keep of your users again, and begin without `after`.',
)
