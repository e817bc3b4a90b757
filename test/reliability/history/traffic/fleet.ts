import { setTimeout as delay } from 'node:timers/promises'
import type { Program, Served } from '../../../cli/program.ts'
import type { Listening } from './connection.ts'
import { type Commit, type Fault, SHORT_STAY, type Touched, withEffect } from '../faults/fault.ts'
import type { Random } from '../../../fixtures/random.ts'
import type { Operation } from '../record/record.ts'
import { type ProgramClock, removeNamesOf, stepClock } from '../faults/set-clock.ts'

/** Processes of the real service. Some may be dead or stopped at the moment. */
export interface Fleet {
  /** Returns one that listens, or null. */
  port(random: Random): Listening | null
  /** Returns the port of the process with this number; null if it does not listen. */
  portOf(number: number): number | null
  /** Kills one with SIGKILL and starts another one in its place. */
  kill: Commit
  /** Stops one for a while, as a debugger or a machine without memory does. */
  pause: Commit
  /** Stops one for this many milliseconds. Clients learn to use the others meanwhile. */
  hold(random: Random, ms: number): Promise<Touched>
  /**
   * Sets the clock of one forward or back by several seconds. Each process needs a clock of its
   * own.
   */
  setClock(random: Random): Operation
}

/** How long clients keep connecting to a stopped process, in milliseconds. */
const UNNOTICED_MS = 1_000

interface Place {
  url: string
  /** Counts from 1. */
  number: number
  clock: ProgramClock | null
  served: Served | null
}

/**
 * Starts one process per URL of the database, each with a clock of its own if `makeClock` is given.
 */
export async function startFleet(
  program: Program,
  urls: readonly string[],
  makeClock: (() => ProgramClock) | null = null,
  stay = SHORT_STAY,
): Promise<Fleet> {
  const start = async ({ url, clock }: Place) => {
    const served = await program.serve({ env: { DATABASE_URL: url, ...clock?.env } })
    if (clock !== null) removeNamesOf(served.pid)
    return served
  }
  const places = await Promise.all(
    urls.map(async (url, index) => {
      const clock = makeClock?.() ?? null
      const place: Place = { url, number: index + 1, clock, served: null }
      place.served = await start(place)
      return place
    }),
  )

  return {
    port(random) {
      const running = places.flatMap(({ number, served }) =>
        served === null ? [] : [{ port: served.port, process: number }],
      )
      return running.length === 0 ? null : random.pick(running)
    },

    portOf: (number) => places[number - 1]!.served?.port ?? null,

    async kill(random) {
      const place = random.pick(places)
      const { served } = place
      place.served = null
      served!.kill('SIGKILL')
      await served!.ended
      await delay(random.between(0, 200))
      place.served = await start(place)
      return { process: place.number }
    },

    async pause(random) {
      const { served, number } = random.pick(places)
      served!.kill('SIGSTOP')
      await delay(stay(random, 100, 1_500))
      served!.kill('SIGCONT')
      return { process: number }
    },

    async hold(random, ms) {
      const place = random.pick(places)
      const { served } = place
      served!.kill('SIGSTOP')
      await delay(UNNOTICED_MS)
      // A load balancer has noticed by now.
      place.served = null
      await delay(ms - UNNOTICED_MS)
      place.served = served
      served!.kill('SIGCONT')
      return { process: place.number }
    },

    setClock(random) {
      const seconds = Math.floor(random.between(2, 10)) * (random.chance(0.5) ? 1 : -1)
      return stepClock(random.pick(places).clock!, seconds, 'shown step')
    },
  }
}

/** The first requests after a stop share a connection attempt whose time ran out during it. */
const RESUMED_MS = 100

/**
 * `hasServer` is true if the database is a server, which continues the work of a killed process and
 * to which a process connects.
 */
export function processFaults(fleet: Fleet, hasServer: boolean): Record<string, Fault> {
  const killed = { failures: ['no answer'], orphans: hasServer } as const
  const stopped = {
    failures: ['authentication'],
    aftermathMs: hasServer ? RESUMED_MS : 0,
  } as const
  return {
    ...withEffect(killed, { 'process killed': fleet.kill }),
    ...withEffect(stopped, { 'process stopped': fleet.pause }),
  }
}

/** Sets clocks that decide nothing and show nothing, so the record excuses nothing. */
export function clockFaults(fleet: Fleet): Record<string, Fault> {
  const set: Commit = async (random) => {
    fleet.setClock(random)
    return {}
  }
  return withEffect({ failures: [] }, { 'process clock set': set })
}
