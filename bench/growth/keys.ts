import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { presentInstant } from '../../src/listing/instant.ts'
import { chooseDriver, type Driver } from '../load/driver.ts'
import { residentMbOf } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { KEYS, openKeys, type Scene } from '../scene.ts'
import { keysOf, seedSqlite } from '../seed.ts'
import { startServe, type Subject } from '../subject.ts'
import type { Result } from '../table.ts'

/** Many more keys than the service caches rows or listings for. */
const KEYS_MISSED = 1_000_000

/** Compares a file of many keys to one of 100,000, and starts the service on it. */
export async function measureKeys(scene: Scene): Promise<Result[]> {
  const { settings, children } = scene
  const most = settings.keysMax
  const few = await startServe(children, 'few', await seed(scene, KEYS))
  const url = await seed(scene, most)
  const start = await measureStart(scene, url)
  const many = await startServe(children, 'many', url)
  const [ratio, ratioMissed] = await measureCosts(scene, few, many)
  const name = `CPU time per request, ${most} keys / ${KEYS}`
  return [
    [`${name}, ${KEYS} of them in use`, ratio, '≤ 1.5'],
    [`${name}, ${KEYS_MISSED} of them in use`, ratioMissed, '≤ 1.5'],
    [`start with ${most} keys, from exec to ready`, start, '< 2 s'],
    [`resident memory with ${most} keys after the load`, residentMbOf(many.pid), '≤ 512 MiB'],
  ]
}

/** Each key has a last use, as if the service had run for long. Returns the URL. */
async function seed({ folder }: Scene, keys: number): Promise<string> {
  console.log(`seeding ${keys} keys of owners with one server`)
  const path = join(folder, `${keys}-keys.db`)
  await seedSqlite(path, keys, 1)
  const database = new DatabaseSync(path)
  database.exec(`
    INSERT INTO older_uses (api_key, used_at) SELECT serial, ${presentInstant()} FROM api_keys`)
  database.close()
  return `sqlite:${path}`
}

async function measureStart({ settings, children }: Scene, url: string): Promise<number> {
  const rounds = await runRounds({
    title: 'start of the service, from exec to ready',
    count: settings.rounds,
    async measure() {
      const startedAt = performance.now()
      const subject = await startServe(children, 'many', url)
      const seconds = (performance.now() - startedAt) / 1_000
      const mib = residentMbOf(subject.pid)
      await subject.end()
      return { seconds, MiB: mib }
    },
  })
  return medianOf(rounds, 'seconds')
}

/** The ratios with keys whose rows and listings are cached, and with keys that are read anew. */
async function measureCosts(scene: Scene, few: Subject, many: Subject): Promise<[number, number]> {
  const { seconds, warmUpSeconds, rounds } = scene.settings
  const most = scene.settings.keysMax
  const drive = (name: string, keys: string[]) => chooseDriver(scene, openKeys(scene, name, keys))
  const all = await drive('few', keysOf(KEYS))
  const cached = await drive('cached', keysOf(KEYS, most / KEYS))
  const missed = await drive('missed', keysOf(KEYS_MISSED, most / KEYS_MISSED))
  const loads = [
    [few, all],
    [many, cached],
    [many, missed],
  ] as const
  for (const [subject, driver] of loads) await driver.run(subject, warmUpSeconds)
  const measured = await runRounds({
    title: `CPU time per request in µs, under ${all.name}`,
    count: rounds,
    async measure() {
      const [base, hit, miss] = [
        await costOf(few, all, seconds),
        await costOf(many, cached, seconds),
        await costOf(many, missed, seconds),
      ]
      return {
        [`of ${KEYS}`]: base,
        [`of ${most}`]: hit,
        'many in use': miss,
        ratio: hit / base,
        'many / few': miss / base,
        MiB: residentMbOf(many.pid),
      }
    },
  })
  return [medianOf(measured, 'ratio'), medianOf(measured, 'many / few')]
}

async function costOf(subject: Subject, driver: Driver, seconds: number): Promise<number> {
  const { perCpuSecond, other } = await driver.run(subject, seconds)
  if (other > 0) throw new Error(`${other} answers were not 200`)
  return 1e6 / perCpuSecond
}
