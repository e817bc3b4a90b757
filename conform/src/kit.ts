import { setTimeout as delay } from 'node:timers/promises'
import { SECOND } from './interval.ts'
import type { Judge } from './judge.ts'
import type { Pace } from './pace.ts'
import { LIST, type Request } from './request.ts'
import { createSender, type Sender } from './sender.ts'
import { type Exchange, now } from './wire/connection.ts'
import type { Target } from './wire/target.ts'

/** An API key, and all requests that may have been granted with it. */
export interface Key {
  text: string
  claims: Exchange[]
}

/** What all checks share. */
export interface Kit extends Sender {
  target: Target
  key: Key
  second: Key | null
  judge: Judge
  /** How many requests go out at the same moment where that matters. */
  burst: number
  /** Asks for the list with a key, and notes the request as a claim. */
  claim(key: Key, request?: Partial<Request>): Promise<Exchange>
  /** As `claim`, with several requests at the same moment. */
  claimTogether(keys: readonly Key[]): Promise<Exchange[]>
  /** Resolves one second after the last request with the key, whatever its answer was. */
  free(key: Key): Promise<void>
  /** Resolves at this instant, in microseconds. */
  until(instant: number): Promise<void>
}

/** Longer than the second, because the clock of the service may run a little slower. */
const FREE_AFTER = SECOND + 30_000

/** The requests of which the last one counts, if the others got a 502. */
export const TRIES_MAX = 4

export function listWithKey({ text }: Key, request: Partial<Request> = {}): Request {
  const { fields = [], ...rest } = request
  return { path: LIST, ...rest, fields: [`Authorization: Bearer ${text}`, ...fields] }
}

export function createKit(
  parts: Pick<Kit, 'target' | 'key' | 'second' | 'judge' | 'burst'>,
  pace: Pace,
): Kit {
  const sender = createSender(parts.target, pace)
  const begun = now()

  /** A 502 may be transient, and retrying later is appropriate (spec 7.2). */
  async function send(request: Request, seen: Exchange[] = []): Promise<Exchange> {
    for (let tries = 1; ; tries += 1) {
      const exchange = await sender.send(request)
      seen.push(exchange)
      if (!isTransient(parts.judge, [exchange]) || tries === TRIES_MAX) return exchange
      await delay(SECOND / 1_000)
    }
  }

  const kit: Kit = {
    ...parts,
    ...sender,
    send,
    claim(key, request) {
      return send(listWithKey(key, request), key.claims)
    },
    async claimTogether(keys) {
      const exchanges = await sender.sendTogether(keys.map((key) => listWithKey(key)))
      for (const [index, key] of keys.entries()) key.claims.push(exchanges[index]!)
      return exchanges
    },
    async free({ claims }) {
      // Another program may have used the key just before the run.
      await until(Math.max(begun, ...claims.map(({ t1 }) => t1)) + FREE_AFTER)
    },
    until,
  }
  return kit
}

/** True if a request met a 502. Notes it, because a healthy service has none. */
export function isTransient(judge: Judge, exchanges: readonly Exchange[]): boolean {
  const failed = exchanges.find(({ answer }) => answer?.status === 502)
  const exchange = failed ?? exchanges[0] ?? []
  judge.expect('steady', failed === undefined, { exchange, expected: 'another answer than 502' })
  return failed !== undefined
}

/** True unless the answer says that the request was not granted. */
export function mayBeGranted({ answer }: Exchange): boolean {
  return answer === null || ![401, 404, 429].includes(answer.status)
}

async function until(instant: number): Promise<void> {
  for (let wait = instant - now(); wait > 0; wait = instant - now())
    await delay(Math.ceil(wait / 1_000))
}
