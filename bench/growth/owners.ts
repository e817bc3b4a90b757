import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { presentInstant } from '../../src/model/instant.ts'
import { openDriver } from '../load/driver.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { openKeys, type Scene } from '../scene.ts'
import { KEYS_PER_OWNER, keyOf, ownerId, seedSqlite } from '../seed.ts'
import { startSubject } from '../subject.ts'
import type { Result } from '../table.ts'

/** Owners of each kind. Their keys must outnumber the connections. */
const OWNERS = 10
const CONNECTIONS = 16
const FEW_SERVERS = 100
const MANY_SERVERS = 100_000

/** Compares owners with many servers to owners with as many as an answer shows. */
export async function measureOwners(scene: Scene): Promise<Result[]> {
  const path = join(scene.folder, 'owners.db')
  console.log(`seeding ${OWNERS} owners of 100 servers and ${OWNERS} of 100,000`)
  await seedSqlite(path, 2 * OWNERS * KEYS_PER_OWNER, FEW_SERVERS)
  addServers(path)
  const ratios = {
    cached: await measure(scene, path, 'cached'),
    anew: await measure(scene, path, 'anew'),
  }
  const name = 'CPU time per request, owner of 100,000 servers / of 100'
  return [
    [`${name}, listing cached`, ratios.cached, '≤ 1.1'],
    [`${name}, listing read anew`, ratios.anew, '≤ 1.1'],
  ]
}

async function measure(scene: Scene, path: string, listings: 'cached' | 'anew'): Promise<number> {
  const { children, settings } = scene
  const program = join(import.meta.dirname, 'fast-clock-main.ts')
  const subject = await startSubject(children, listings, [
    process.execPath,
    program,
    path,
    listings,
  ])
  const keys = (from: number) =>
    Array.from({ length: OWNERS * KEYS_PER_OWNER }, (_, n) => keyOf(from + n))
  const many = openDriver(scene, openKeys(scene, 'many', keys(0)), CONNECTIONS)
  const few = openDriver(scene, openKeys(scene, 'few', keys(OWNERS * KEYS_PER_OWNER)), CONNECTIONS)
  for (const driver of [few, many]) await driver.run(subject, settings.seconds)
  const rounds = await runRounds({
    title: `CPU time per request in µs, listing ${listings}, under ${few.name}`,
    count: settings.rounds,
    async measure() {
      const ofFew = await few.run(subject, settings.seconds)
      const ofMany = await many.run(subject, settings.seconds)
      return {
        'of 100': 1e6 / ofFew.perCpuSecond,
        'of 100,000': 1e6 / ofMany.perCpuSecond,
        'not 200': ofFew.other + ofMany.other,
        ratio: ofFew.perCpuSecond / ofMany.perCpuSecond,
      }
    },
  })
  await subject.end()
  return medianOf(rounds, 'ratio')
}

/** Gives the first owners the servers that they lack. */
function addServers(path: string): void {
  const database = new DatabaseSync(path)
  database.function('owner_id', ownerId as (value: unknown) => string)
  database.function('uuid', () => crypto.randomUUID())
  database.exec(`
    WITH RECURSIVE
      owners (o) AS (SELECT 0 UNION ALL SELECT o + 1 FROM owners WHERE o < ${OWNERS - 1}),
      numbers (n) AS (SELECT ${FEW_SERVERS} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MANY_SERVERS - 1})
    INSERT INTO servers (id, created_by, name, slug, host_label, version, listing_kind, updated_at)
    SELECT uuid(), owner_id(o), format('Emerald Hollow %07d', o), format('emerald-%07d-%d', o, n),
      format('emerald-%07d.example.net:25565', o), '1.21.4', 'server', ${presentInstant()} - n * 1000000
    FROM numbers, owners`)
  database.close()
}
