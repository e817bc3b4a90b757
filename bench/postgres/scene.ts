import { writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { startCluster } from '../../test/fixtures/postgres-cluster.ts'
import { createDatabase } from '../../test/fixtures/postgres-database.ts'
import type { Settings } from '../bench.ts'
import type { Children } from '../children.ts'
import { chooseDriver, type Driver } from '../load.ts'
import type { Latencies } from '../open-loop.ts'
import { type Subject, startSubject } from '../subject.ts'
import { type Claims, openClaims } from './claims.ts'
import { keyOf, seed } from './seed.ts'

const KEYS = 100_000
const MANY_KEYS = 1_000_000
export const HAMMERS = 500

/** A PostgreSQL server with a small and a large database, and two services on the small one. */
export interface Scene {
  settings: Settings
  print(line: string): void
  /** The service, and the same with batches of one. */
  batched: Subject
  oneByOne: Subject
  /** Asks with all keys in turn, so that none is asked with twice in a second. */
  inTurn: Driver
  /** Five hundred connections that ask with one key, and with five hundred. */
  onOneKey: Driver
  spread: Driver
  /** Asks with other keys meanwhile, 200 times a second, each at most once a second. */
  probe(seconds: number): Promise<Latencies>
  /** The store alone on 100,000 keys, and on as many of 1,000,000. */
  claims: Claims
  claimsOfMany: Claims
  close(): Promise<void>
}

const PROBES_PER_SECOND = 200
const path = (relative: string) => join(import.meta.dirname, relative)

export async function openScene(
  children: Children,
  folder: string,
  settings: Settings,
  print: (line: string) => void,
): Promise<Scene> {
  const cluster = await startCluster({
    settings: {
      fsync: 'on',
      shared_buffers: '1GB',
      max_wal_size: '8GB',
      checkpoint_timeout: '30min',
    },
  })
  try {
    print('seeding 100,000 keys of owners with ten servers each, and 1,000,000 of owners with one')
    const [url, urlOfMany] = [await createDatabase(cluster), await createDatabase(cluster)]
    await seed(url, KEYS, 10)
    await seed(urlOfMany, MANY_KEYS, 1)
    const keys = numbersTo(KEYS).map(keyOf)

    const keysFile = (name: string, keys: readonly string[]) => {
      const keysPath = join(folder, name)
      writeFileSync(keysPath, `${keys.join('\n')}\n`, { mode: 0o600 })
      return keysPath
    }
    const driverOf = (name: string, keys: readonly string[], connections?: number) =>
      chooseDriver(children, folder, keysFile(name, keys), keys, connections)
    const probeKeys = keysFile('probes', keys.slice(-10 * PROBES_PER_SECOND))

    const environment = {
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      DATABASE_URL: url,
      HOST: '127.0.0.1',
      PORT: '0',
      DASHBOARD_PORT: '0',
      LOG_LEVEL: 'info',
    }
    const command = [path('../../bin/server-listing.js'), 'serve'] as const
    const batched = await startSubject(children, 'batched', [...command], environment)
    const oneByOne = await startSubject(
      children,
      'one by one',
      [process.execPath, path('one-by-one.ts')],
      environment,
    )
    const postmasterPid = cluster.postmasterPid()
    const claims = await openClaims(url, keys, postmasterPid)
    const sample = numbersTo(KEYS).map((n) => keyOf(n * (MANY_KEYS / KEYS)))
    const claimsOfMany = await openClaims(urlOfMany, sample, postmasterPid)

    return {
      settings,
      print,
      batched,
      oneByOne,
      inTurn: await driverOf('keys', keys),
      onOneKey: await driverOf('one-key', keys.slice(0, 1), HAMMERS),
      spread: await driverOf('spread-keys', keys.slice(0, HAMMERS), HAMMERS),
      async probe(seconds) {
        const numbers = [0, PROBES_PER_SECOND, seconds].map(String)
        const args = [path('../open-loop.ts'), String(batched.port), probeKeys, ...numbers]
        return JSON.parse(await children.run(process.execPath, args, seconds + 30)) as Latencies
      },
      claims,
      claimsOfMany,
      async close() {
        await Promise.all([claims.close(), claimsOfMany.close()])
        children.endAll()
        await cluster.remove()
      },
    }
  } catch (error) {
    children.endAll()
    await cluster.remove()
    throw error
  }
}

/** The numbers below this one, in an order that is no order, and the same in each run. */
function numbersTo(end: number): number[] {
  // A step that has no divisor in common with a power of ten visits every number once.
  const step = 61_803
  return Array.from({ length: end }, (_, n) => (n * step) % end)
}
