import { createListingCache } from '../../src/api/listing-cache.ts'
import { hashApiKey } from '../../src/model/key-hash.ts'
import { openServingPostgresStore } from '../../src/postgres/store.ts'
import { cpuSecondsOfFamily } from '../proc.ts'
import type { Scene } from '../scene.ts'

/** More bytes than all listings of the benchmark have. */
const LISTINGS_BYTES_MAX = 1024 ** 3
const NO_BODY = Buffer.alloc(0)
/** Concurrent calls. */
export const IN_FLIGHT = 256

/** The work of a store alone in one round, without HTTP. */
export interface Claimed {
  perSecond: number
  /** CPU time of this process and of PostgreSQL for one claim, in microseconds. */
  cpu: number
}

/** Claims keys for a number of seconds. */
export type Claim = (seconds: number) => Promise<Claimed>

/**
 * Opens a store whose keys the returned function claims in turn with IN_FLIGHT concurrent calls. It
 * caches listings as the API does. Each key is claimed once before this function returns.
 */
export async function openClaims(
  { atEnd }: Scene,
  url: string,
  keys: readonly string[],
  postmasterPid: number,
): Promise<Claim> {
  const store = await openServingPostgresStore(url)
  atEnd(store.close)
  const hashes = keys.map(hashApiKey)
  const listings = createListingCache(LISTINGS_BYTES_MAX)
  let next = 0

  async function claim(): Promise<void> {
    const hash = hashes[next % hashes.length]!
    next += 1
    const granted = await store.claim(hash, listings)
    if (granted.outcome !== 'granted') throw new Error(`a key was ${granted.outcome}`)
    if (granted.rows !== null)
      listings.set(granted.userId, { revision: granted.revision, body: NO_BODY })
  }

  async function claimWhile(isGoing: () => boolean): Promise<void> {
    const worker = async () => {
      while (isGoing()) await claim()
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  }

  function cpuSeconds(): number {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6 + cpuSecondsOfFamily(postmasterPid)
  }

  await claimWhile(() => next < hashes.length)
  return async (seconds) => {
    const [from, cpuFrom, startedAt] = [next, cpuSeconds(), performance.now()]
    await claimWhile(() => performance.now() - startedAt < seconds * 1000)
    const claims = next - from
    return {
      perSecond: (claims * 1000) / (performance.now() - startedAt),
      cpu: ((cpuSeconds() - cpuFrom) * 1e6) / claims,
    }
  }
}
