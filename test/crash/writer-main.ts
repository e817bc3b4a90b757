import { AssertionError } from 'node:assert'
import { writeSync } from 'node:fs'
import { hashApiKey } from '../../src/listing/api-key.ts'
import { presentInstant } from '../../src/listing/instant.ts'
import type { ServingStore, Store } from '../../src/listing/store.ts'
import { freshSeed, randomFrom } from '../history/random.ts'
import { now } from '../history/record.ts'
import { activeKeys, drawAct, keyOf } from './acts.ts'
import { apply, readDatabase, untilSessionsEnded } from './content.ts'
import type { Line } from './journal.ts'

/*
 * The program of a process that is to be killed: it opens the store as the service does or as a command does, tells what it
 * finds, and then works, one act after the other, saying before each what it is going to do and after each that it is done.
 */

const USED_TOGETHER = 3

const [url = '', role = 'service', count = 'Infinity'] = process.argv.slice(2)

function say(line: Line): void {
  // At once: what was said outlives the process.
  writeSync(1, `${JSON.stringify(line)}\n`)
}

try {
  say({ line: 'opening' })
  const store = await openStore()
  const { content, ...rest } = await readDatabase(url)
  say({ line: 'opened', reading: { content, ...rest } })
  const random = randomFrom(freshSeed())
  for (let acts = 0; acts < Number(count); acts += 1) {
    const { changes, perform } = drawAct(random, content)
    say({ line: 'begun', changes })
    const keys = activeKeys(content)
    const used = Array.from({ length: USED_TOGETHER }, () => use(store, random.pick(keys)))
    await perform(store)
    say({ line: 'done' })
    apply(content, changes)
    await Promise.all(used)
  }
  await store.close()
} catch (error) {
  if (error instanceof AssertionError) throw error
  say({ line: 'failed', reason: String(error) })
  process.exit()
}

async function openStore(): Promise<Store | ServingStore> {
  if (!url.startsWith('sqlite:')) {
    await untilSessionsEnded(url)
    const { openServingPostgresStore } = await import('../../src/postgres/store.ts')
    return openServingPostgresStore(url)
  }
  const { openServingSqliteStore, openSqliteStore } = await import('../../src/sqlite/store.ts')
  const path = url.slice('sqlite:'.length)
  if (role === 'service') return openServingSqliteStore(path)
  if (role === 'command') return openSqliteStore(path, { create: true })
  return openCarelessly(path)
}

/** The same methods on a connection that does not wait until what it wrote is on the disk. */
async function openCarelessly(path: string): Promise<Store> {
  const { migrateSqlite } = await import('../../src/sqlite/store.ts')
  const { management } = await import('../../src/sqlite/management.ts')
  const { openDatabase } = await import('../../src/sqlite/database.ts')
  await migrateSqlite(path)
  const database = openDatabase(path, { synchronous: 'NORMAL', lockWaitMs: 1_000 })
  if (role === 'reckless') database.exec('PRAGMA synchronous = OFF')
  return { ...management(database), close: async () => database.close() }
}

async function use(store: Store | ServingStore, apiKeyId: string | undefined): Promise<void> {
  if (!('useApiKey' in store) || apiKeyId === undefined) return
  const [t0, at] = [now(), presentInstant()]
  try {
    const { outcome } = await store.useApiKey(hashApiKey(keyOf(apiKeyId)), () => null)
    if (outcome === 'used') say({ line: 'used', apiKeyId, t0, t1: now(), at })
  } catch (error) {
    say({ line: 'failed', reason: String(error) })
  }
}
