import { programIn } from '../../cli/program.ts'
import type { Cluster } from '../../fixtures/postgres/cluster.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { startTcpProxy } from '../../fixtures/proxy/tcp-proxy.ts'
import { randomFrom } from '../../fixtures/random.ts'
import type { Ends } from '../history/battlefield/ends.ts'
import type { Battlefield } from '../history/traffic/battlefield.ts'
import { keepStamps, readStamps } from '../history/record/postgres-record.ts'
import { startFleet } from '../history/traffic/fleet.ts'
import { startOtherProcess } from '../history/traffic/other-process.ts'
import type { Scene } from '../history/traffic/scene.ts'
import { createDirectory } from './directory.ts'
import {
  blameByOwner,
  clusterFaults,
  moves,
  networkFaultsOf,
  ROUTERS_FROM,
  routerFaults,
  type Site,
} from './faults.ts'
import type { Move } from './move.ts'
import { createSplitOperator } from './operator.ts'
import { startRouter } from './router.ts'

const ROUTERS = 2

/**
 * Several clusters, each with a service of its own, behind two routers. Owners move between the
 * clusters while their clients keep asking.
 */
export async function openClusters(
  t: Ends,
  servers: readonly Cluster[],
  move: Move,
): Promise<Battlefield> {
  const directory = createDirectory(randomFrom(1))
  t.after(directory.close)
  const sites = await Promise.all(servers.map((server, index) => openSite(t, server, index + 1)))
  const operators = await Promise.all(sites.map(({ url }) => startOtherProcess(url)))
  t.after(() => Promise.all(operators.map((other) => other.close())))
  const operator = createSplitOperator(directory, operators)
  const offsets = await Promise.all(sites.map(({ url }) => keepStamps(url)))
  const urls = sites.map(({ url, server, proxy }) =>
    url.replace(`:${server.port}/`, `:${proxy.port}/`),
  )
  const fleet = await startFleet(programIn(t), urls)
  const copies = Array.from({ length: ROUTERS }, directory.open)
  const routers = await Promise.all(
    copies.map((copy) => startRouter(copy, sites.length, fleet.portOf)),
  )
  t.after(() => Promise.all(routers.map((router) => router.close())))

  async function readRecord(scene: Scene) {
    blameByOwner(scene.incidents, scene.owners, directory.stays)
    const records = await Promise.all(
      sites.map(({ url }, index) => readStamps(url, scene, offsets[index]!)),
    )
    return {
      // The servers share the clock of this machine.
      stamps: records.flatMap(({ stamps }) => stamps ?? []).toSorted((a, b) => a.at - b.at),
      lastUses: Object.assign({}, ...records.map(({ lastUses }) => lastUses)),
    }
  }

  return {
    engine: `${sites.length} clusters`,
    operator,
    port(random) {
      const router = Math.floor(random.between(0, ROUTERS))
      return { port: routers[router]!.port, process: ROUTERS_FROM + router }
    },
    groups: [
      moves(sites, directory, operator, move),
      clusterFaults(sites, fleet),
      networkFaultsOf(sites),
      routerFaults(copies),
    ],
    staying: () => ({}),
    readRecord,
  }
}

async function openSite(t: Ends, server: Cluster, cluster: number): Promise<Site> {
  const [url, proxy] = [await createDatabase(server), await startTcpProxy(server.port)]
  t.after(proxy.close)
  return { cluster, url, server, proxy }
}
