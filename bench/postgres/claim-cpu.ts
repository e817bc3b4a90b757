import pg from 'pg'
import { createListingCache } from '../../src/api/listing-cache.ts'
import { hashApiKey } from '../../src/model/key-hash.ts'
import { byteaArray } from '../../src/postgres/claims/binary-arrays.ts'
import { claimBatch } from '../../src/postgres/claims/claims.ts'
import { createKnownKeys } from '../../src/postgres/claims/known-keys.ts'
import { startCluster } from '../../test/fixtures/postgres/cluster.ts'
import { createDatabase } from '../../test/fixtures/postgres/database.ts'
import { cpuSecondsOf } from '../proc.ts'
import { SERVERS_PER_OWNER } from '../scene.ts'
import { keysOf, seedPostgres } from '../seed.ts'
import { openTable } from '../table.ts'

/*
 * Measures the CPU time that PostgreSQL spends on one batch of claims by its size. For comparison,
 * an UPDATE stamps as many rows without a lock, a listing or a refusal. The server does not wait
 * for the disk: `node bench/postgres/claim-cpu.ts`.
 */

/** More than the turns of one second use, or claims would be limited. */
const KEYS = 200_000
const SIZES = [1, 10, 20, 40, 80, 128]
const TURNS = 8
const TURN_MS = 250
const NO_BODY = Buffer.alloc(0)
const BARE = `
  UPDATE api_keys SET last_used_at = clock_timestamp()
  FROM unnest($1::bytea[]) AS asked (key_hash) WHERE api_keys.key_hash = asked.key_hash
`

const hashes = keysOf(KEYS).map(hashApiKey)
let next = 0
const cluster = await startCluster({ settings: { shared_buffers: '1GB', max_wal_size: '8GB' } })
const client = new pg.Client({ connectionString: await seed() })
try {
  await client.connect()
  await measure()
} finally {
  await client.end()
  await cluster.remove()
}

async function seed(): Promise<string> {
  const url = await createDatabase(cluster)
  await seedPostgres(url, KEYS, SERVERS_PER_OWNER)
  return url
}

async function measure(): Promise<void> {
  const listings = createListingCache(Number.MAX_SAFE_INTEGER)
  const keys = createKnownKeys()
  const claim = async (batch: readonly Uint8Array[]) => {
    const calls = batch.map((keyHash) => ({ keyHash, listings }))
    for (const outcome of await claimBatch(client, keys, calls)) {
      if (outcome instanceof Error || outcome.outcome !== 'granted')
        throw new Error('a claim was not granted: the keys are used too often')
      const { userId, revision, rows } = outcome
      if (rows !== null) listings.set(userId, { revision, body: NO_BODY })
    }
  }
  const update = async (batch: readonly Uint8Array[]) => {
    await client.query({ name: 'bare', text: BARE, values: [byteaArray(batch)] })
  }
  // The first claim of a key reads its listing.
  for (let first = 0; first < KEYS; first += 100) await claim(take(100))
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  const printRow = openTable('CPU time of PostgreSQL for one batch, in µs', 'claims')
  for (const size of SIZES) {
    const spent = { claim: 0, update: 0 }
    for (let turn = 0; turn < TURNS; turn += 1) {
      spent.claim += (await cpuOf(rows[0].pid, size, claim)) / TURNS
      spent.update += (await cpuOf(rows[0].pid, size, update)) / TURNS
    }
    const { claim: whole, update: bare } = spent
    printRow(String(size), { whole, bare, 'bare / whole': bare / whole, 'per claim': whole / size })
  }
}

/** CPU time of the backend for one batch during a turn, in microseconds. */
async function cpuOf(
  pid: number,
  size: number,
  run: (batch: readonly Uint8Array[]) => Promise<void>,
): Promise<number> {
  const [startedAt, before] = [performance.now(), cpuSecondsOf(pid)]
  let batches = 0
  for (; performance.now() - startedAt < TURN_MS; batches += 1) await run(take(size))
  return ((cpuSecondsOf(pid) - before) * 1e6) / batches
}

/** The least recently used keys. */
function take(count: number): Uint8Array[] {
  next += count
  return Array.from({ length: count }, (_, index) => hashes[(next - count + index) % KEYS]!)
}
