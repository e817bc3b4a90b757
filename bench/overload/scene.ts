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
import { type Crowd, type Seen, sendCrowd } from './crowd.ts'

/** What the slowed stores decide in a second. */
export const CLAIMS_PER_SECOND = 2_000
const KEYS = 100_000
/** Near the most that the service takes. Some have several requests under way where more of them wait than these. */
const CROWD_CONNECTIONS = 8_000
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
    const postgresKeys = Array.from({ length: KEYS }, (_, n) => keyOf(n))

    const keysFile = (name: string, keys: readonly string[]) => {
      const keysPath = join(folder, name)
      writeFileSync(keysPath, `${keys.join('\n')}\n`, { mode: 0o600 })
      return keysPath
    }
    const keysPath = keysFile('keys', keys)
    const service = await startSubject(
      children,
      'service',
      [path('../../bin/server-listing.js'), 'serve'],
      {
        PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
        DATABASE_URL: `sqlite:${file}`,
        HOST: '127.0.0.1',
        PORT: '0',
        DASHBOARD_PORT: '0',
      },
    )
    // A file has one process that serves it.
    const slowedFile = join(folder, 'slowed.db')
    const slowedKeys = await seed(slowedFile)
    return {
      settings,
      print,
      seen: [],
      slowed: [
        await startSlowed(
          children,
          'SQLite',
          `sqlite:${slowedFile}`,
          keysFile('slowed', slowedKeys),
        ),
        await startSlowed(children, 'PostgreSQL', url, keysFile('postgres', postgresKeys)),
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

async function startSlowed(
  children: Children,
  engine: string,
  url: string,
  keysPath: string,
): Promise<Slowed> {
  const program = path('slowed-service-main.ts')
  const args = [process.execPath, program, url, String(CLAIMS_PER_SECOND)] as const
  const { port } = await startSubject(children, engine, [...args])
  let from = 0
  return {
    engine,
    async send(load) {
      const crowd = { ...load, port, keysPath, from, connections: CROWD_CONNECTIONS }
      const seen = await sendCrowd(children, crowd)
      from = (from + seen.asked) % KEYS
      return seen
    },
  }
}
