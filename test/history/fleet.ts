import { setTimeout as delay } from 'node:timers/promises'
import type { Program, Served } from '../cli/program.ts'
import type { Fault } from './nemesis.ts'
import type { Random } from './random.ts'
import type { Operation } from './record.ts'
import { removeNamesOf, type SetClock, stepClock } from './set-clock.ts'

/** Processes of the real service, of which some may be dead or stopped at the moment. */
export interface Fleet {
  /** Of one that listens; null where none does. */
  port(random: Random): number | null
  /** Kills one with SIGKILL, and starts another in its place. */
  kill: Fault
  /** Stops one for a while, as a machine that is short of memory or a debugger does. */
  pause: Fault
  /** Sets the clock of one, forward or back, by several seconds. Only where each has a clock of its own. */
  setClock(random: Random): Operation
}

interface Place {
  url: string
  clock: SetClock | null
  served: Served | null
}

/** One process for each URL of the database, with a clock of its own if there is somebody who makes them. */
export async function startFleet(
  program: Program,
  urls: readonly string[],
  makeClock: (() => SetClock) | null = null,
): Promise<Fleet> {
  const start = async ({ url, clock }: Place) => {
    const served = await program.serve({ env: { DATABASE_URL: url, ...clock?.env } })
    if (clock !== null) removeNamesOf(served.pid)
    return served
  }
  const places = await Promise.all(
    urls.map(async (url) => {
      const place: Place = { url, clock: makeClock?.() ?? null, served: null }
      place.served = await start(place)
      return place
    }),
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
      place.served = await start(place)
    },

    async pause(random) {
      const { served } = random.pick(places)
      served!.kill('SIGSTOP')
      await delay(random.between(100, 1_500))
      served!.kill('SIGCONT')
    },

    setClock(random) {
      const seconds = Math.floor(random.between(2, 10)) * (random.chance(0.5) ? 1 : -1)
      return stepClock(random.pick(places).clock!, seconds, 'shown step')
    },
  }
}
