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

  const kit: Kit = {
    ...parts,
    ...sender,
    async claim(key, request) {
      const exchange = await kit.send(listWithKey(key, request))
      key.claims.push(exchange)
      return exchange
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

/** True unless the answer says that the request was not granted. */
export function mayBeGranted({ answer }: Exchange): boolean {
  return answer === null || ![401, 404, 429].includes(answer.status)
}

async function until(instant: number): Promise<void> {
  for (let wait = instant - now(); wait > 0; wait = instant - now())
    await delay(Math.ceil(wait / 1_000))
}
