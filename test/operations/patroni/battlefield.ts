import { programIn } from '../../cli/program.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { type Ends, lastFirst } from '../../reliability/history/battlefield/ends.ts'
import { type Commit, withEffect } from '../../reliability/history/faults/fault.ts'
import type { Battlefield } from '../../reliability/history/traffic/battlefield.ts'
import { keepStamps, readStamps } from '../../reliability/history/record/postgres-record.ts'
import { now } from '../../reliability/history/record/record.ts'
import { startFleet } from '../../reliability/history/traffic/fleet.ts'
import { startOtherProcess } from '../../reliability/history/traffic/other-process.ts'
import { startPatroniCluster } from './cluster.ts'

/** From a promotion to the first granted claim: a second of holding off, and 2.5 s. */
export const SERVING_AGAIN_MS = 3_500

/** How the two processes reach the primary, in the order of their numbers. */
export const WAYS = ['a URL with both hosts', "HAProxy, by Patroni's health checks"]

export interface Failovers {
  battlefield: Battlefield
  /** The instants of the promotions so far, on the clock of the record. */
  promotions: number[]
}

/** Two processes of the service on a Patroni cluster whose primary is killed again and again. */
export async function openFailovers(
  t: Ends,
  options: { isPatient?: boolean } = {},
): Promise<Failovers> {
  const own = lastFirst(t)
  const cluster = await startPatroniCluster(own, options)
  const proxied = await createDatabase({ url: (name = 'postgres') => cluster.proxiedUrl(name) })
  const url = cluster.url(new URL(proxied).pathname.slice(1))
  const operator = await startOtherProcess(url)
  own.after(() => operator.close())
  const offsets = await keepStamps(proxied)
  const fleet = await startFleet(programIn(own), [url, proxied])
  const promotions: number[] = []

  const killPrimary: Commit = async () => {
    if (!(await cluster.isSynchronous())) return null
    const promotedAt = await cluster.killPrimary()
    promotions.push(promotedAt * 1_000 - (Date.now() * 1_000 - now()))
    return {}
  }
  const bringBack: Commit = async () => ((await cluster.bringBack()) ? {} : null)

  const failing = {
    failures: ['authentication'],
    aftermathMs: SERVING_AGAIN_MS,
    orphans: true,
  } as const
  return {
    promotions,
    battlefield: {
      engine: 'postgres',
      operator,
      port: fleet.port,
      groups: [
        {
          ...withEffect(failing, { 'primary killed': killPrimary }),
          ...withEffect({ failures: [] }, { 'killed server returns': bringBack }),
        },
      ],
      staying: () => ({}),
      readRecord: (scene) => readStamps(proxied, scene, offsets),
    },
  }
}
