import { writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { startCluster } from '../../test/fixtures/postgres-cluster.ts'
import { createDatabase } from '../../test/fixtures/postgres-database.ts'
import type { Settings } from '../bench.ts'
import type { Children } from '../children.ts'
import { chooseDriver, type Driver } from '../load.ts'
import { keyOf, seed as seedPostgres } from '../postgres/seed.ts'
import { seed } from '../seed.ts'
import { type Subject, startSubject } from '../subject.ts'
import { type Crowd, KEYS_BESIDE, type Seen, sendCrowd } from './crowd.ts'
import { slowPostgres } from './slowed.ts'

/** What the slowed stores decide in a second. */
export const CLAIMS_PER_SECOND = 2_000
const KEYS = 100_000
/** Of these the crowd asks with so many: more than it sends in a second, and few enough to have used all of them. */
export const CROWD_KEYS = 30_000
/** Near the most that the service takes; those of the last load may not all be closed yet. */
const CROWD_CONNECTIONS = 9_000
export const BUSY_CONNECTIONS = [16, 64, 256, 2_000] as const

/** A service on a store that is slowed down, and a crowd for it. */
export interface Slowed {
  engine: string
  send(load: Pick<Crowd, 'rate' | 'seconds'>): Promise<Seen>
}

export interface Scene {
  settings: Settings
  print(line: string): void
  slowed: readonly Slowed[]
  /** What was seen of the slowed services so far. */
  seen: Seen[]
  /** The service as it is, and those who ask it as fast as it answers. */
  service: Subject
  drivers: readonly Driver[]
  keys: number
  close(): Promise<void>
}

const path = (relative: string) => join(import.meta.dirname, relative)

export async function openScene(
  children: Children,
  folder: string,
  settings: Settings,
  print: (line: string) => void,
): Promise<Scene> {
  const cluster = await startCluster()
  const close = async () => {
    children.endAll()
    await cluster.remove()
  }
  try {
    print('seeding 100,000 keys on each engine')
    const file = join(folder, 'bench.db')
    const keys = await seed(file)
    const url = await createDatabase(cluster)
    await seedPostgres(url, KEYS, 10)
    await slowPostgres(url, CLAIMS_PER_SECOND)
    const postgresKeys = Array.from({ length: CROWD_KEYS }, (_, n) => keyOf(n))

    const keysFile = (name: string, keys: readonly string[]) => {
      const keysPath = join(folder, name)
      writeFileSync(keysPath, `${keys.join('\n')}\n`, { mode: 0o600 })
      return keysPath
    }
    const keysPath = keysFile('keys', keys)
    const service = await startSubject(children, 'service', SERVE, serving(`sqlite:${file}`))
    // A file has one process that serves it.
    const slowedFile = join(folder, 'slowed.db')
    const slowedKeysPath = keysFile('slowed', (await seed(slowedFile)).slice(0, CROWD_KEYS))
    const program = [path('slowed-service-main.ts'), slowedFile, String(CLAIMS_PER_SECOND)]
    const sqlite = await startSubject(children, 'SQLite', [process.execPath, ...program])
    const postgres = await startSubject(children, 'PostgreSQL', SERVE, serving(url))
    return {
      settings,
      print,
      seen: [],
      slowed: [
        slowed(children, sqlite, slowedKeysPath),
        slowed(children, postgres, keysFile('postgres', postgresKeys)),
      ],
      service,
      keys: KEYS,
      drivers: await Promise.all(
        BUSY_CONNECTIONS.map((count) => chooseDriver(children, folder, keysPath, keys, count)),
      ),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const SERVE = [path('../../bin/server-listing.js'), 'serve'] as const

function serving(url: string): NodeJS.ProcessEnv {
  return {
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    DATABASE_URL: url,
    HOST: '127.0.0.1',
    PORT: '0',
    DASHBOARD_PORT: '0',
    LOG_LEVEL: 'info',
  }
}

function slowed(children: Children, { name, port }: Subject, keysPath: string): Slowed {
  let from = 0
  return {
    engine: name,
    async send(load) {
      const crowd = { ...load, port, keysPath, from, connections: CROWD_CONNECTIONS }
      const seen = await sendCrowd(children, crowd)
      from = (from + seen.asked + KEYS_BESIDE) % CROWD_KEYS
      return seen
    },
  }
}
