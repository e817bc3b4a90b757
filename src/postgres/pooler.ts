import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type pg from 'pg'
import { NotConfigured } from '../model/faults.ts'
import { type Attempt, HostClient } from './hosts.ts'
import type { Patience } from './patience.ts'

/** How long an idle connection may take to hear a notification, in milliseconds. */
const HEARD_MS = 1_000
const TRIES_MAX = 5

/**
 * Throws NotConfigured if a pooler takes the connection's backend away between two transactions, as
 * PgBouncer does in every mode but `session`. `attempt` is the one of the connection.
 *
 * The connection listens on a channel and stays idle while another one notifies it. A pooler passes
 * the notification on only if the connection still has its backend. Ids of backends prove less,
 * because a pooler may happen to lend the same one again.
 */
export async function assertKeepsBackend(
  client: pg.ClientBase,
  attempt: Attempt,
  patience: Patience,
): Promise<void> {
  const channel = `server_listing_${randomBytes(8).toString('hex')}`
  await client.query(`LISTEN ${channel}`)
  try {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const verdict = await hears(client, channel, () => notify(attempt, channel, patience))
      if (verdict === 'while idle') return
      if (verdict === 'never')
        throw new NotConfigured(
          'a connection pooler in front of PostgreSQL shares backends between transactions; set pool_mode = session in PgBouncer, or connect to PostgreSQL directly',
        )
    }
    throw new Error(
      'the connection pooler is too slow: the service cannot tell whether it shares backends between transactions',
    )
  } finally {
    await client.query(`UNLISTEN ${channel}`).catch(() => {})
  }
}

/** When the connection hears the next notification on the channel. */
async function hears(
  client: pg.ClientBase,
  channel: string,
  sendNotification: () => Promise<void>,
): Promise<'while idle' | 'with its next statement' | 'never'> {
  const heard = nextNotification(client, channel)
  try {
    await sendNotification()
    if (await heard.within(HEARD_MS)) return 'while idle'
    // A backend sends what it was notified of before the result of its next statement. So a slow
    // server is not mistaken for a shared backend.
    await client.query('SELECT')
    return heard.isHeard() ? 'with its next statement' : 'never'
  } finally {
    heard.stop()
  }
}

function nextNotification(client: pg.ClientBase, channel: string) {
  const heard = new AbortController()
  const listener = (notification: pg.Notification) => {
    if (notification.channel === channel) heard.abort()
  }
  client.on('notification', listener)
  return {
    isHeard: () => heard.signal.aborted,

    async within(milliseconds: number): Promise<boolean> {
      const over = AbortSignal.any([heard.signal, AbortSignal.timeout(milliseconds)])
      if (!over.aborted) await once(over, 'abort')
      return heard.signal.aborted
    },

    stop: () => void client.removeListener('notification', listener),
  }
}

/** Does not wait for a standby that is away: the notification changes nothing. */
async function notify(attempt: Attempt, channel: string, patience: Patience): Promise<void> {
  const client = new HostClient(attempt, {
    connectionTimeoutMillis: patience.connectMs,
    query_timeout: patience.queryMs,
    application_name: 'server-listing',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(
      `SELECT pg_catalog.set_config('synchronous_commit', 'off', true),
        pg_catalog.pg_notify('${channel}', '')`,
    )
  } finally {
    await client.end().catch(() => {})
  }
}
