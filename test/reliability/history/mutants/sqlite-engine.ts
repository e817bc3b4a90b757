import { AuthenticationFault, ListFault } from '../../../../src/model/faults.ts'
import { type Claim, CLAIM_INTERVAL_US } from '../../../../src/model/claim.ts'
import type { ServingStore } from '../../../../src/database/store.ts'
import { now } from '../record/record.ts'
import { type KeyRow, openFlawedTables } from './sqlite-tables.ts'

/** The engine that sometimes fails does so at every fiftieth call. */
const CALLS_TO_FAILURE = 50

/** The flaw of the engine. `nothing` shows that the checker notices the flaw and not the engine. */
export type Flaw =
  | 'nothing'
  | 'check then set'
  | 'claim kept after a failed list'
  | 'key cached for 1.5 s'
  | 'stamp on 429'
  | 'list cached for 1.5 s'
  | 'a claim that is not given back'
  | 'now and then a failure'
  | 'failures that go on'

/** The obvious implementation of spec 5.2, step by step, on the tables of the real engine. */
export function openFlawedEngine(
  path: string,
  flaw: Flaw,
): Pick<ServingStore, 'claim'> & { close(): void } {
  const { find, stamp, list, close } = openFlawedTables(path, rememberedBy(flaw))
  /** Calls that are reading a list, by key. The next call with the same key waits for their end. */
  const underWay = new Map<number, Promise<void>>()
  const stuck = new Set<number>()
  let calls = 0
  let hasFailed = false

  async function claim(found: KeyRow): Promise<Claim> {
    const { serial, id: apiKeyId, user_id: userId } = found
    if (found.revoked_at !== null) return { outcome: 'revoked', apiKeyId }
    const isLimited = found.last !== null && now() - found.last < CLAIM_INTERVAL_US
    if (isLimited || stuck.has(serial)) {
      if (flaw === 'stamp on 429' && isLimited) stamp(serial)
      return { outcome: 'limited', apiKeyId }
    }
    const done = Promise.withResolvers<void>()
    underWay.set(serial, done.promise)
    if (flaw === 'claim kept after a failed list') stamp(serial)
    try {
      const rows = await list(userId).catch((cause: unknown) => {
        hasFailed = true
        if (flaw === 'a claim that is not given back') stuck.add(serial)
        throw new ListFault('the servers could not be read', { cause })
      })
      if (flaw !== 'claim kept after a failed list') stamp(serial)
      return { outcome: 'granted', apiKeyId, userId, revision: String(now()), rows }
    } finally {
      underWay.delete(serial)
      done.resolve()
    }
  }

  const engine = {
    async claim(keyHash: Uint8Array): Promise<Claim> {
      try {
        calls += 1
        if (flaw === 'now and then a failure' && calls % CALLS_TO_FAILURE === 0)
          throw new ListFault('for no reason')
        if (flaw === 'failures that go on' && hasFailed)
          throw new AuthenticationFault('it has failed before')
        const found = find(keyHash)
        if (found === undefined) return { outcome: 'unknown' }
        const { serial } = found
        const before = underWay.get(serial)
        if (before === undefined || flaw === 'check then set') return await claim(found)
        await before
        return await engine.claim(keyHash)
      } catch (error) {
        if (error instanceof ListFault || error instanceof AuthenticationFault) throw error
        throw new AuthenticationFault('the database failed', { cause: error })
      }
    },
    close,
  }
  return engine
}

function rememberedBy(flaw: Flaw): 'keys' | 'lists' | null {
  if (flaw === 'key cached for 1.5 s') return 'keys'
  return flaw === 'list cached for 1.5 s' ? 'lists' : null
}
