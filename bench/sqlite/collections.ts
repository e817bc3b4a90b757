import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { eventually } from '../../test/fixtures/eventually.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { startServe } from '../subject.ts'
import type { Result } from '../table.ts'
import type { Bench } from './measured.ts'

/** The collections of garbage in some time, with the milliseconds that each stopped the process. */
export interface Collections {
  milliseconds: number
  durations: number[]
}

/** How long the service collects garbage under full load, in a process that observes itself. */
export async function measureCollections(bench: Bench): Promise<Result> {
  const { children, settings, driver, service, folder } = bench
  const path = join(folder, 'collections')
  await service.end()
  const url = `sqlite:${join(folder, 'bench.db')}`
  const program = pathToFileURL(join(import.meta.dirname, 'collections-main.ts')).href
  const environment = { NODE_OPTIONS: `--import=${program}`, COLLECTIONS: path }
  const observed = await startServe(children, 'observed', url, undefined, environment)

  async function collectionsSince(): Promise<Collections> {
    rmSync(path, { force: true })
    process.kill(observed.pid, 'SIGUSR2')
    await eventually(async () => existsSync(path))
    return JSON.parse(readFileSync(path, 'utf8')) as Collections
  }

  await driver.run(observed, settings.warmUpSeconds)
  const rounds = await runRounds({
    title: 'garbage collection under full load',
    count: settings.rounds,
    async measure() {
      await collectionsSince()
      await driver.run(observed, settings.seconds)
      const { milliseconds, durations } = await collectionsSince()
      const total = durations.reduce((sum, duration) => sum + duration, 0)
      return {
        'share of time in %': (100 * total) / milliseconds,
        'per second': (1_000 * durations.length) / milliseconds,
        'longest in ms': Math.max(0, ...durations),
      }
    },
  })
  return ['time in which garbage is collected', medianOf(rounds, 'share of time in %'), '< 5 %']
}
