import { setTimeout as delay } from 'node:timers/promises'
import { type Client, openClient } from './client.ts'

const TICK_MS = 1
/** Requests that one connection has under way at most: the service closes one that has sixteen. */
const UNDER_WAY_MAX = 14
/** How long the last answers are waited for, and what one that did not come is taken to have taken. */
const GRACE_MS = 2_500
const NEVER_MS = 60_000

export interface Answered {
  dueAt: number
  status: number
  /** Since it was due, in milliseconds. */
  latency: number
}

export function openClients(port: number, count: number): Promise<Client[]> {
  return Promise.all(Array.from({ length: count }, () => openClient(port)))
}

/** In turn; those that are up to their limit are left out. */
function freeOf(clients: readonly Client[], turn: number): Client | null {
  for (let tries = 0; tries < clients.length; tries += 1) {
    const client = clients[(turn + tries) % clients.length]!
    if (client.underWay() < UNDER_WAY_MAX) return client
  }
  return null
}

/** Asks at a steady pace until then; what has no answer in the end took a minute. */
export async function askEvery(
  milliseconds: number,
  clients: readonly Client[],
  text: () => string,
  until: number,
): Promise<Answered[]> {
  const answered: Answered[] = []
  let sent = 0
  for (let dueAt = performance.now(); dueAt < until; dueAt += milliseconds) {
    await delay(Math.max(0, dueAt - performance.now()))
    sent += 1
    const at = dueAt
    freeOf(clients, sent)?.ask(text(), at, (status, latency) =>
      answered.push({ dueAt: at, status, latency }),
    )
  }
  while (answered.length < sent && performance.now() < until + GRACE_MS) await delay(TICK_MS)
  for (let lost = answered.length; lost < sent; lost += 1)
    answered.push({ dueAt: until, status: 0, latency: NEVER_MS })
  return answered
}

export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
}
