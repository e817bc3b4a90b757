import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { programIn } from '../../../cli/program.ts'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { createDatabase } from '../../../fixtures/postgres/database.ts'
import { startTcpProxy } from '../../../fixtures/proxy/tcp-proxy.ts'
import { type Ends, lastFirst } from './ends.ts'
import { SHORT_STAY, type Stay } from '../faults/fault.ts'
import { clockFaults, processFaults, startFleet } from '../traffic/fleet.ts'
import { type Machine, makeMachine } from '../faults/machine.ts'
import type { Battlefield } from '../traffic/battlefield.ts'
import { networkFaults } from '../faults/network-faults.ts'
import { startOtherProcess } from '../traffic/other-process.ts'
import { postgresFaults } from '../faults/postgres-faults.ts'
import { machineFaults } from '../faults/postgres-machine-faults.ts'
import { keepStamps, readStamps } from '../record/postgres-record.ts'
import { makeDatabaseClock } from '../faults/set-clock.ts'
import { postgresStaying } from '../faults/postgres-staying.ts'

/** Processes that serve one database. The first one reaches it through the proxy. */
const PROCESSES = 3
const BEHIND_PROXY = 1
/** Processes die here but the system does not, and it keeps written data without a sync. */
const SETTINGS = { fsync: 'off' }
const DISK_MEGABYTES = 512

/**
 * Uses a server of its own. Its disk and the clocks of the database and of the services are among
 * the faults.
 */
export async function openPostgresMachine(t: Ends, stay: Stay): Promise<Battlefield> {
  const own = lastFirst(t)
  const machine = makeMachine(own, DISK_MEGABYTES)
  const folder = join(machine.disk.folder, 'cluster')
  mkdirSync(folder)
  const cluster = await startCluster({ folder, settings: SETTINGS })
  own.after(cluster.remove)
  return openPostgresBattlefield(own, cluster, machine, stay)
}

export async function openPostgresBattlefield(
  t: Ends,
  cluster: Cluster,
  machine: Machine | null = null,
  stay = SHORT_STAY,
): Promise<Battlefield> {
  const program = programIn(t)
  const url = await createDatabase(cluster)
  const clock = machine === null ? null : await makeDatabaseClock(t, url)
  const operator = await startOtherProcess(url)
  const proxy = await startTcpProxy(cluster.port)
  t.after(async () => {
    proxy.close()
    await operator.close()
  })
  const offsets = await keepStamps(url)
  const byProxy = url.replace(`:${cluster.port}/`, `:${proxy.port}/`)
  const urls = [byProxy, ...Array(PROCESSES - 1).fill(url)]
  const fleet = await startFleet(program, urls, machine?.makeClock, stay)
  const ofServer = postgresFaults(cluster, url, stay)
  const ofMachine =
    clock === null ? {} : machineFaults(cluster, url, { clock, disk: machine!.disk }, stay)
  return {
    engine: 'postgres',
    operator,
    port: fleet.port,
    groups: [
      { ...processFaults(fleet, true), ...(machine === null ? {} : clockFaults(fleet)) },
      { ...ofServer, ...ofMachine },
      networkFaults(proxy, BEHIND_PROXY, stay),
    ],
    staying: (ms) => postgresStaying(url, fleet, proxy, BEHIND_PROXY, ms),
    readRecord: (scene) => readStamps(url, scene, offsets),
  }
}
