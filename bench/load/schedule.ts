import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from './client.ts'

const TICK_MS = 1
/** How long to wait for the last answers. */
const GRACE_MS = 2_500
/** The latency that counts for a request without an answer. */
const NEVER_MS = 60_000

export interface Schedule {
  clients: readonly Client[]
  text(): string
  /** Requests per second. */
  rate: number
  /** Instants of `performance.now()`. */
  startsAt: number
  endsAt: number
  /** A request that is due while all clients are busy waits for one, or is never sent. */
  whenBusy: 'wait' | 'drop'
}

export interface Answered {
  dueAt: number
  /** 0 without an answer. */
  status: number
  /** Milliseconds since the request was due. */
  latency: number
}

/**
 * Sends requests at a fixed rate, whether or not answers arrive. Request n is due n / rate seconds
 * after the start, and its latency counts from then on. So a stall delays every request that was
 * due while it lasted. Returns all requests that were sent or that waited.
 */
export async function askOnSchedule(schedule: Schedule): Promise<Answered[]> {
  const { clients, text, rate, startsAt, endsAt, whenBusy } = schedule
  const all: Answered[] = []
  const total = Math.round(((endsAt - startsAt) * rate) / 1_000)
  /** Clients without an unanswered request, the longest idle first. */
  const free = [...clients]
  let due = 0
  let unanswered = 0

  function dueNext(): Answered {
    const dueAt = startsAt + (due * 1_000) / rate
    const request = { dueAt, status: 0, latency: NEVER_MS }
    due += 1
    all.push(request)
    return request
  }

  function sendDue(): void {
    const present = Math.floor(((performance.now() - startsAt) * rate) / 1_000) + 1
    while (due < Math.min(total, present)) {
      const client = free.shift()
      if (client === undefined && whenBusy === 'wait') return
      if (client === undefined) due += 1
      else send(client, dueNext())
    }
  }

  function send(client: Client, request: Answered): void {
    unanswered += 1
    client.ask(text(), (status) => {
      request.status = status
      request.latency = performance.now() - request.dueAt
      unanswered -= 1
      free.push(client)
      if (whenBusy === 'wait') sendDue()
    })
  }

  const isOver = () => due === total && unanswered === 0
  while (!isOver() && performance.now() < endsAt + GRACE_MS) {
    sendDue()
    await delay(TICK_MS)
  }
  if (whenBusy === 'wait') while (due < total) dueNext()
  return all
}

export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
}
