// Posts each change of the published servers to a channel of Discord: node discord-bot.mjs
// BASE_URL is the address of the API, SERVER_LISTING_KEY an API key, DISCORD_WEBHOOK the address of
// a webhook. Discord makes one under Edit Channel, Integrations.

import { ServerListingClient } from 'server-listing-client'

const POLL_MS = 10_000
const ATTEMPTS_MAX = 5
/** A message has at most 2,000 characters, and a line up to 500. */
const LINES_MAX = 4

const webhook = (process.env.DISCORD_WEBHOOK ?? '').trim()
// The message leaves the address out, because it is a secret.
if (!URL.canParse(webhook)) throw new Error('DISCORD_WEBHOOK must be the address of a webhook')

const client = new ServerListingClient({
  baseUrl: process.env.BASE_URL,
  apiKey: process.env.SERVER_LISTING_KEY,
})

/** A line for each published server that is new, gone or different. */
function changesBetween(before, after) {
  const lines = []
  for (const [id, { name, address }] of after) {
    const old = before.get(id)
    if (old === undefined) lines.push(`New: ${name}, ${address}`)
    else if (old.name !== name) lines.push(`${old.name} is now ${name}`)
    else if (old.address !== address) lines.push(`${name} moved to ${address}`)
  }
  for (const [id, { name }] of before) if (!after.has(id)) lines.push(`Gone: ${name}`)
  return lines
}

/** Posts a message. Waits as long as Discord says, or else 1, 2, 4 and 8 seconds. */
async function post(content) {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(webhook, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      // A name with @everyone must call no one.
      body: JSON.stringify({ content, allowed_mentions: { parse: [] } }),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => null)
    if (answer?.ok) return
    const isTransient = answer === null || answer.status === 429 || answer.status >= 500
    if (!isTransient || attempt === ATTEMPTS_MAX)
      throw new Error(`The webhook answered ${answer?.status ?? 'nothing'}`)
    const retryAfter = Number(answer?.headers.get('Retry-After')) || 0
    const seconds = Math.max(retryAfter, 2 ** (attempt - 1))
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
}

let published = null
for await (const servers of client.watch({ intervalMs: POLL_MS })) {
  const entries = servers.filter(({ status }) => status === 'published')
  const now = new Map(entries.map((server) => [server.id, server]))
  // The first list is only what the next ones are compared with.
  const lines = changesBetween(published ?? now, now)
  while (lines.length > 0) await post(lines.splice(0, LINES_MAX).join('\n'))
  published = now
}
