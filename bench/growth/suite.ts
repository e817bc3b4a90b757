import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { presentInstant } from '../../src/model/instant.ts'
import { randomFrom } from '../../test/fixtures/random.ts'
import { openDriver, type Driver } from '../load/driver.ts'
import { residentMbOf } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { KEYS, openKeys, type Scene } from '../scene.ts'
import { keysOf, seedSqlite } from '../seed.ts'
import { startServe, type Subject } from '../subject.ts'
import type { Result } from '../table.ts'
import { measureOwners } from './owners.ts'

/** As many keys as SQLite is for. */
const KEYS_MOST = 1_000_000
/** More keys than the service caches rows or listings for. */
const KEYS_MISSED = 200_000

/** What more keys and more servers of one owner cost on SQLite. */
export async function measureGrowth(scene: Scene): Promise<Result[]> {
  return [...(await measureOwners(scene)), ...(await measureKeys(scene))]
}

/** Compares a file of many keys to smaller ones, and starts the service on it. */
async function measureKeys(scene: Scene): Promise<Result[]> {
  const urls = new Map<number, string>()
  for (const keys of [KEYS, KEYS_MISSED, KEYS_MOST]) urls.set(keys, await seed(scene, keys))
  const start = await measureStart(scene, urls.get(KEYS_MOST)!)
  const costs: Result[] = []
  let resident = 0
  for (const used of [KEYS, KEYS_MISSED]) {
    const few = await startServe(scene.children, 'few', urls.get(used)!)
    const many = await startServe(scene.children, 'many', urls.get(KEYS_MOST)!)
    const ratio = await measureCosts(scene, few, many, used)
    costs.push([
      `CPU time per request, ${used} of ${KEYS_MOST} keys in use / of ${used}`,
      ratio,
      '≤ 1.5',
    ])
    resident = Math.max(resident, residentMbOf(many.pid))
    for (const subject of [few, many]) await subject.end()
  }
  return [
    ...costs,
    [`start with ${KEYS_MOST} keys, from exec to ready`, start, '< 2 s'],
    [`resident memory with ${KEYS_MOST} keys after the load`, resident, '≤ 320 MiB'],
  ]
}

/** Each key has a last use, as if the service had run for long. Returns the URL. */
async function seed({ folder }: Scene, keys: number): Promise<string> {
  console.log(`seeding ${keys} keys of owners with one server`)
  const path = join(folder, `${keys}-keys.db`)
  await seedSqlite(path, keys, 1)
  const database = new DatabaseSync(path)
  database.exec(`
    INSERT INTO last_claims SELECT serial, ${presentInstant()}, 0, 0 FROM api_keys`)
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

/** How many times as much a request costs if the keys in use are few of a file's keys, not all. */
async function measureCosts(
  scene: Scene,
  few: Subject,
  many: Subject,
  used: number,
): Promise<number> {
  const { seconds, warmUpSeconds, rounds } = scene.settings
  // In the order of their rows, a page of the smaller file would be read once for many keys.
  const random = randomFrom(1)
  const drive = (name: string, keys: string[]) =>
    openDriver(scene, openKeys(scene, name, random.shuffle(keys)))
  const all = drive('few', keysOf(used))
  const spread = drive('many', keysOf(used, KEYS_MOST / used))
  await all.run(few, warmUpSeconds)
  await spread.run(many, warmUpSeconds)
  const measured = await runRounds({
    title: `CPU time per request in µs, ${used} keys in use, under ${all.name}`,
    count: rounds,
    async measure() {
      const [base, cost] = [await costOf(few, all, seconds), await costOf(many, spread, seconds)]
      return {
        [`of ${used}`]: base,
        [`of ${KEYS_MOST}`]: cost,
        ratio: cost / base,
        MiB: residentMbOf(many.pid),
      }
    },
  })
  return medianOf(measured, 'ratio')
}

async function costOf(subject: Subject, driver: Driver, seconds: number): Promise<number> {
  const { perCpuSecond, other } = await driver.run(subject, seconds)
  if (other > 0) throw new Error(`${other} answers were not 200`)
  return 1e6 / perCpuSecond
}
