import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { programIn } from '../cli/program.ts'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { createDatabase } from '../fixtures/postgres-database.ts'
import { startTcpProxy } from '../fixtures/tcp-proxy.ts'
import { type Ends, lastFirst } from './ends.ts'
import { startFleet } from './fleet.ts'
import { makeMachine } from './machine.ts'
import type { Battlefield } from './nemesis.ts'
import { networkFaults } from './network-faults.ts'
import { startOtherProcess } from './other-process.ts'
import { machineFaults, type PostgresMachine, postgresFaults } from './postgres-faults.ts'
import { keepStamps, readStamps } from './postgres-record.ts'

/** Processes that serve one database; the first reaches it by way of the proxy. */
const PROCESSES = 3
/** Processes die here, and never the system, which keeps what was written to it: there is no need to wait for the disk. */
const SETTINGS = { fsync: 'off' }
const DISK_MEGABYTES = 512

/** On a server of its own, whose clock and disk, and the services' clocks, are among the faults. */
export async function openPostgresMachine(t: Ends): Promise<Battlefield> {
  const own = lastFirst(t)
  const { makeClock, disk } = makeMachine(own, DISK_MEGABYTES)
  const server = makeClock()
  const folder = join(disk.folder, 'cluster')
  mkdirSync(folder)
  const cluster = await startCluster({ folder, env: server.env, settings: SETTINGS })
  own.after(cluster.remove)
  return openPostgresBattlefield(own, cluster, { makeClock, server, disk })
}

export async function openPostgresBattlefield(
  t: Ends,
  cluster: Cluster,
  machine: PostgresMachine | null = null,
): Promise<Battlefield> {
  const program = programIn(t)
  const url = await createDatabase(cluster)
  const operator = await startOtherProcess(url)
  const proxy = await startTcpProxy(cluster.port)
  t.after(() => {
    operator.close()
    proxy.close()
  })
  const offsets = await keepStamps(url)
  const byProxy = url.replace(`:${cluster.port}/`, `:${proxy.port}/`)
  const urls = [byProxy, ...Array(PROCESSES - 1).fill(url)]
  const fleet = await startFleet(program, urls, machine?.makeClock)
  const ofProcesses = { 'process killed': fleet.kill, 'process stopped': fleet.pause }
  const ofServer = postgresFaults(cluster, url)
  return {
    engine: 'postgres',
    operator,
    port: fleet.port,
    groups: [
      machine === null
        ? ofProcesses
        : {
            ...ofProcesses,
            // It decides nothing and is shown nowhere, so the record is to excuse nothing.
            'process clock set': async (random) => void fleet.setClock(random),
          },
      machine === null ? ofServer : { ...ofServer, ...machineFaults(cluster, url, machine) },
      networkFaults(proxy),
    ],
    readRecord: (scene) => readStamps(url, scene, offsets),
  }
}
