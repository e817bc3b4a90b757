import { setTimeout as delay } from 'node:timers/promises'
import type { Program, Served } from '../cli/program.ts'
import type { Random } from './random.ts'

/** Processes of the real service, of which some may be dead or stopped at the moment. */
export interface Fleet {
  /** Of one that listens; null where none does. */
  port(random: Random): number | null
  /** Kills one with SIGKILL, and starts another in its place. */
  kill(random: Random): Promise<void>
  /** Stops one for a while, as a machine that is short of memory or a debugger does. */
  pause(random: Random): Promise<void>
}

/** One process for each URL of the database. */
export async function startFleet(program: Program, urls: readonly string[]): Promise<Fleet> {
  const start = (url: string) => program.serve({ env: { DATABASE_URL: url } })
  const places: { url: string; served: Served | null }[] = await Promise.all(
    urls.map(async (url) => ({ url, served: await start(url) })),
  )

  return {
    port(random) {
      const running = places.flatMap(({ served }) => (served === null ? [] : [served.port]))
      return running.length === 0 ? null : random.pick(running)
    },

    async kill(random) {
      const place = random.pick(places)
      const { served } = place
      place.served = null
      served!.kill('SIGKILL')
      await served!.ended
      await delay(random.between(0, 200))
      place.served = await start(place.url)
    },

    async pause(random) {
      const { served } = random.pick(places)
      served!.kill('SIGSTOP')
      await delay(random.between(100, 1_500))
      served!.kill('SIGCONT')
    },
  }
}
