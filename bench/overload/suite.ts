import { join } from 'node:path'
import { createDatabase } from '../../test/fixtures/postgres/database.ts'
import { runCrowd, type Seen } from '../load/programs.ts'
import { measureConnections } from './connections.ts'
import { runRounds } from '../rounds.ts'
import { KEYS, openCluster, openFile, openKeys, type Scene, SERVERS_PER_OWNER } from '../scene.ts'
import { keysOf, seedPostgres } from '../seed.ts'
import { startServe, startSubject, type Subject } from '../subject.ts'
import type { Result } from '../table.ts'
import { slowPostgres } from './slowed.ts'

/** Calls that a slowed store decides per second. */
const CLAIMS_PER_SECOND = 2_000
/** The loads, as multiples of CLAIMS_PER_SECOND. */
const LOADS = [1, 2, 5, 10]
/** Attempts to send a load on a calm machine. If none was calm, the calmest one counts. */
const TRIES = 4
const WARM_UP_SECONDS = 4
/**
 * Keys of the crowd: more than it uses in a second, and few enough that the first load uses all of
 * them.
 */
const CROWD_KEYS = 30_000
/** More keys than a crowd uses for the requests before and after its load. */
const KEYS_BESIDE = 1_000
/** Close to the service's limit. Some connections of the last load may still be open. */
const CROWD_CONNECTIONS = 9_000

/** A service on a slowed store, and a crowd for it. */
interface Slowed {
  engine: string
  send(rate: number, seconds: number): Promise<Seen>
}

export async function measureOverload(scene: Scene): Promise<Result[]> {
  const { settings } = scene
  const url = await createDatabase(await openCluster(scene))
  const slowed = [await openSlowedSqlite(scene), await openSlowedPostgres(scene, url)]
  const loads = await measureLoads(slowed, settings.seconds + 1)
  const goodput = Math.min(...loads.map((load) => load['200s/s'])) / CLAIMS_PER_SECOND
  const health = Math.max(...loads.map((load) => load['p99 of health']))
  const recovery = Math.max(...loads.map((load) => load.recovery))
  return [
    ['200s per second / calls that the store decides, at the worst load', goodput, '≥ 0.9'],
    ['p99 of GET /health beside the loads, at the worst load', health, '< 100 ms'],
    ['recovery: from the end of a load to the last slow or failed answer', recovery, '< 2000 ms'],
    ...(await measureConnections(scene)),
  ]
}

async function openSlowedSqlite(scene: Scene): Promise<Slowed> {
  const file = await openFile(scene, 'slowed.db')
  const program = join(import.meta.dirname, 'slowed-service-main.ts')
  const args = [process.execPath, program, file, String(CLAIMS_PER_SECOND)] as const
  return slowed(scene, await startSubject(scene.children, 'SQLite', args))
}

async function openSlowedPostgres(scene: Scene, url: string): Promise<Slowed> {
  console.log('seeding 100,000 keys on PostgreSQL')
  await seedPostgres(url, KEYS, SERVERS_PER_OWNER)
  await slowPostgres(url, CLAIMS_PER_SECOND)
  return slowed(scene, await startServe(scene.children, 'PostgreSQL', url))
}

function slowed(scene: Scene, { name, port }: Subject): Slowed {
  const keys = openKeys(scene, name, keysOf(KEYS).slice(0, CROWD_KEYS))
  return {
    engine: name,
    async send(rate, seconds) {
      const crowd = { port, keysPath: keys.path, from: keys.next, connections: CROWD_CONNECTIONS }
      const seen = await runCrowd(scene.children, { ...crowd, rate, seconds })
      keys.next = (keys.next + seen.asked + KEYS_BESIDE) % CROWD_KEYS
      return seen
    },
  }
}

/**
 * Sends each load in turn to warm services: every key was used before, and a load as large as the
 * largest has made V8 compile them. Times are in milliseconds.
 */
async function measureLoads(slowed: readonly Slowed[], seconds: number) {
  for (const { send } of slowed) {
    await send(CLAIMS_PER_SECOND, Math.ceil(CROWD_KEYS / CLAIMS_PER_SECOND))
    await send(Math.max(...LOADS) * CLAIMS_PER_SECOND, WARM_UP_SECONDS)
  }
  const all = []
  for (const { engine, send } of slowed)
    for (const load of LOADS) {
      const rate = load * CLAIMS_PER_SECOND
      const [calmest] = await runRounds({
        title: `${engine}: ${rate} requests per second to a store that decides ${CLAIMS_PER_SECOND}`,
        count: 1,
        tries: TRIES,
        async measure() {
          const seen = await send(rate, seconds)
          return {
            '200s/s': seen.goodput,
            shed: seen.shed,
            unanswered: seen.unanswered,
            unsent: seen.unsent,
            'p99 of 200s': seen.p99,
            'p99 of health': seen.health.p99,
            recovery: seen.recovery,
          }
        },
      })
      all.push(calmest!)
    }
  return all
}
