import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from './client.ts'

const TICK_MS = 1
/** How long to wait for the last answers. */
const GRACE_MS = 2_500
/** The latency that counts for a request without an answer. */
const NEVER_MS = 60_000

/** Stands for the status of a request that was never sent. */
const UNSENT = 0xffff

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

/** A client, and the number of its unanswered request. */
interface Sender {
  client: Client
  request: number
  tell(status: number): void
}

/**
 * Sends requests at a fixed rate, whether or not answers arrive. Request n is due n / rate seconds
 * after the start, and its latency counts from then on. So a stall delays every request that was
 * due while it lasted. Returns all requests that were sent or that waited.
 */
export async function askOnSchedule(schedule: Schedule): Promise<Answered[]> {
  const { clients, text, rate, startsAt, endsAt, whenBusy } = schedule
  const total = Math.round(((endsAt - startsAt) * rate) / 1_000)
  // Indexed by the number of a request. With an object for each, threads of the garbage collector
  // would compete with the service for the processors.
  const statuses = new Uint16Array(total)
  const latencies = new Float64Array(total).fill(NEVER_MS)
  /** Clients without an unanswered request, the longest idle first. */
  const free = clients.map(createSender)
  let due = 0
  let unanswered = 0

  const dueAtOf = (number: number) => startsAt + (number * 1_000) / rate

  function createSender(client: Client): Sender {
    const sender = { client, request: 0, tell }
    function tell(status: number): void {
      statuses[sender.request] = status
      latencies[sender.request] = performance.now() - dueAtOf(sender.request)
      unanswered -= 1
      free.push(sender)
      if (whenBusy === 'wait') sendDue()
    }
    return sender
  }

  function sendDue(): void {
    const present = Math.floor(((performance.now() - startsAt) * rate) / 1_000) + 1
    for (; due < Math.min(total, present); due += 1) {
      const sender = free.shift()
      if (sender !== undefined) send(sender)
      else if (whenBusy === 'wait') return
      else statuses[due] = UNSENT
    }
  }

  function send(sender: Sender): void {
    unanswered += 1
    sender.request = due
    sender.client.ask(text(), sender.tell)
  }

  const isOver = () => due === total && unanswered === 0
  while (!isOver() && performance.now() < endsAt + GRACE_MS) {
    sendDue()
    await delay(TICK_MS)
  }
  // A late answer must not send what is overdue.
  due = total
  const all: Answered[] = []
  for (const [number, status] of statuses.entries()) {
    if (status !== UNSENT) all.push({ dueAt: dueAtOf(number), status, latency: latencies[number]! })
  }
  return all
}

export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0
}
