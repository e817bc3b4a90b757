import { AssertionError } from 'node:assert'
import { writeSync } from 'node:fs'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import type { ServingStore, Store } from '../../../src/database/store.ts'
import { NO_LISTINGS } from '../../fixtures/listings.ts'
import { randomFrom } from '../../fixtures/random.ts'
import { now } from '../history/record/record.ts'
import { activeKeys, drawAct, keyOf } from './acts.ts'
import {
  apply,
  type Content,
  type Reading,
  readDatabase,
  untilSessionsEnded,
} from '../model/content.ts'
import type { Line } from './journal.ts'

/*
 * The program of a process that a test kills. It opens the store as a service or a command does
 * and prints what it finds. Then it works act by act and prints each before it starts and after it
 * is done.
 */

const CLAIMS_AT_ONCE = 3
/**
 * Batches of a busy service for each act. They write nothing, but count for the next checkpoint.
 */
const EMPTY_BATCHES = 100

const [url = '', role = 'service', count = 'Infinity', seed = '0', failing] = process.argv.slice(2)
const goesOn = failing === 'goes on'

function print(line: Line): void {
  // Written at once, so that the line outlives the process.
  writeSync(1, `${JSON.stringify(line)}\n`)
}

try {
  print({ line: 'opening' })
  const store = await openStore()
  const reading = await read()
  print({ line: 'opened', reading })
  let { content } = reading
  const random = randomFrom(Number(seed))
  for (let acts = 0; acts < Number(count); acts += 1) {
    const { changes, perform } = drawAct(random, content)
    print({ line: 'begun', changes })
    const keys = activeKeys(content)
    const used = Array.from({ length: CLAIMS_AT_ONCE }, () => claim(store, random.pick(keys)))
    if (await isDone(perform(store))) {
      print({ line: 'done' })
      apply(content, changes)
    } else content = await readAgain()
    await Promise.all(used)
    if (role === 'busy') await claimNothing(store)
  }
  await store.close()
} catch (error) {
  if (error instanceof AssertionError) throw error
  print({ line: 'failed', reason: String(error) })
  process.exit()
}

/** Throws the error that ends a writer without `goesOn`. */
async function isDone(act: Promise<void>): Promise<boolean> {
  try {
    await act
    return true
  } catch (error) {
    if (error instanceof AssertionError || !goesOn) throw error
    print({ line: 'failed', reason: String(error) })
    return false
  }
}

async function readAgain(): Promise<Content> {
  const reading = await read()
  print({ line: 'looked', reading })
  return reading.content
}

/**
 * With failing calls the check for damage may fail, too. The next writer has none and must find no
 * damage.
 */
async function read(): Promise<Reading> {
  const reading = await readDatabase(url)
  return goesOn ? { ...reading, damage: null } : reading
}

async function openStore(): Promise<Store | ServingStore> {
  if (!url.startsWith('sqlite:')) {
    await untilSessionsEnded(url)
    const { openServingPostgresStore } = await import('../../../src/postgres/store.ts')
    return openServingPostgresStore(url)
  }
  const { openServingSqliteStore } = await import('../../../src/sqlite/serving-store.ts')
  const { openSqliteStore } = await import('../../../src/sqlite/store.ts')
  const path = url.slice('sqlite:'.length)
  if (role === 'service' || role === 'busy') return openServingSqliteStore(path)
  if (role === 'command') return openSqliteStore(path, { create: true })
  return openCarelessly(path)
}

/** The same methods on a connection that does not wait until its writes are on the disk. */
async function openCarelessly(path: string): Promise<Store> {
  const { migrateSqlite } = await import('../../../src/sqlite/store.ts')
  const { managementConnection } = await import('../../../src/sqlite/management-connection.ts')
  const { openDatabase } = await import('../../../src/sqlite/database.ts')
  await migrateSqlite(path)
  const database = openDatabase(path, { synchronous: 'NORMAL', lockWaitMs: 1_000 })
  if (role === 'reckless') database.exec('PRAGMA synchronous = OFF')
  return {
    database: managementConnection(database, { lockWaitMs: 1_000 }),
    isServed: () => true,
    close: async () => database.close(),
  }
}

async function claimNothing(store: Store | ServingStore): Promise<void> {
  if (!('claim' in store)) return
  const unknown = hashApiKey(keyOf('unknown'))
  for (let batch = 0; batch < EMPTY_BATCHES; batch += 1) await store.claim(unknown, NO_LISTINGS)
}

async function claim(store: Store | ServingStore, apiKeyId: string | undefined): Promise<void> {
  if (!('claim' in store) || apiKeyId === undefined) return
  const [t0, at] = [now(), presentInstant()]
  try {
    const { outcome } = await store.claim(hashApiKey(keyOf(apiKeyId)), NO_LISTINGS)
    if (outcome === 'granted') print({ line: 'granted', apiKeyId, t0, t1: now(), at })
  } catch (error) {
    if (now() - t0 < (await longestWait())) print({ line: 'failed', reason: String(error) })
  }
}

/**
 * The time in microseconds after which a service on SQLite gives up a claim that it has not
 * decided. On a busy machine that is no error.
 */
async function longestWait(): Promise<number> {
  if (!url.startsWith('sqlite:')) return Number.POSITIVE_INFINITY
  const { SQLITE_QUEUE } = await import('../../../src/sqlite/claims/claims.ts')
  return SQLITE_QUEUE.waitMaxMs * 1_000
}
