import { openDriver, type Driver } from '../load/driver.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { openService, type Scene } from '../scene.ts'
import type { Result } from '../table.ts'

/** The best of the first is compared with each of the others. */
const FEW = [16, 64, 256]
const MANY = [1_024, 2_000] as const

/**
 * What many connections without a pause cost the service on SQLite. Each round measures every
 * number of connections, so that all meet the same machine.
 */
export async function measureConnections(scene: Scene): Promise<Result[]> {
  const { seconds, rounds } = scene.settings
  const { service, keys } = await openService(scene)
  const drivers = new Map<number, Driver>()
  for (const count of [...FEW, ...MANY]) drivers.set(count, openDriver(scene, keys, count))
  async function measure() {
    const row: Record<string, number> = {}
    for (const [count, driver] of drivers)
      row[`at ${count}`] = (await driver.run(service, seconds)).perCpuSecond
    return row
  }
  // V8 still compiles the service in this round.
  await measure()
  const measured = await runRounds({
    title: `200s per CPU second, by connections, under ${drivers.get(MANY[0])!.name.split(',')[0]}`,
    count: rounds,
    measure,
  })
  const ratioOf = (count: number) =>
    medianOf(
      measured.map((row) => ({
        ratio: row[`at ${count}`]! / Math.max(...FEW.map((few) => row[`at ${few}`]!)),
      })),
      'ratio',
    )
  return [
    [titleFor('1,024'), ratioOf(1_024), '≥ 0.9'],
    [titleFor('2,000'), ratioOf(2_000), '≥ 0.75'],
  ]
}

function titleFor(connections: string): string {
  return `200s per CPU second, ${connections} connections / the best of 16, 64, 256`
}
