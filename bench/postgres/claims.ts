import { readdirSync, readFileSync } from 'node:fs'
import { hashApiKey } from '../../src/listing/api-key.ts'
import { openServingPostgresStore } from '../../src/postgres/store.ts'

/** Calls under way at a time. */
export const IN_FLIGHT = 256
const TICKS_PER_SECOND = 100

/** What a store alone did in one round, without HTTP. */
export interface Claimed {
  claims: number
  seconds: number
  /** Of this process and of PostgreSQL together. */
  cpuSeconds: number
}

export interface Claims {
  round(seconds: number): Promise<Claimed>
  close(): Promise<void>
}

/** Uses keys in turn, as many at a time as IN_FLIGHT, and remembers listings as the API does. Each key has been used once. */
export async function openClaims(
  url: string,
  keys: readonly string[],
  postmasterPid: number,
): Promise<Claims> {
  const store = await openServingPostgresStore(url)
  const hashes = keys.map(hashApiKey)
  const revisions = new Map<string, string>()
  const recall = (userId: string) => revisions.get(userId) ?? null
  let next = 0

  async function claim(): Promise<void> {
    const hash = hashes[next % hashes.length]!
    next += 1
    const use = await store.useApiKey(hash, recall)
    if (use.outcome !== 'used') throw new Error(`a key was ${use.outcome}`)
    if (use.rows !== null) revisions.set(use.userId, use.revision)
  }

  async function claimWhile(isGoing: () => boolean): Promise<void> {
    const worker = async () => {
      while (isGoing()) await claim()
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  }

  await claimWhile(() => next < hashes.length)
  return {
    async round(seconds) {
      const [from, cpuFrom, startedAt] = [next, cpuSeconds(postmasterPid), performance.now()]
      await claimWhile(() => performance.now() - startedAt < seconds * 1000)
      return {
        claims: next - from,
        seconds: (performance.now() - startedAt) / 1000,
        cpuSeconds: cpuSeconds(postmasterPid) - cpuFrom,
      }
    },
    close: store.close,
  }
}

/** What this process, the postmaster, and its children have used so far, those that have ended included. */
function cpuSeconds(postmasterPid: number): number {
  const { user, system } = process.cpuUsage()
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const fields = statOf(name)
    // Behind the name: the parent is the 2nd field, utime, stime and those of ended children the 12th to 15th.
    if (Number(name) === postmasterPid) ticks += sum(fields.slice(11, 15))
    else if (Number(fields[1]) === postmasterPid) ticks += sum(fields.slice(11, 13))
  }
  return (user + system) / 1e6 + ticks / TICKS_PER_SECOND
}

function statOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

function sum(fields: readonly string[]): number {
  return fields.reduce((total, field) => total + Number(field), 0)
}
