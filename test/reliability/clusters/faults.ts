import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '../../fixtures/postgres/cluster.ts'
import type { TcpProxy } from '../../fixtures/proxy/tcp-proxy.ts'
import { type Commit, type Fault, withEffect } from '../history/faults/fault.ts'
import { networkFaults } from '../history/faults/network-faults.ts'
import { postgresFaults } from '../history/faults/postgres-faults.ts'
import type { Incident } from '../history/record/record.ts'
import { type Fleet, processFaults } from '../history/traffic/fleet.ts'
import type { Owner } from '../history/traffic/scene.ts'
import type { Directory, DirectoryCopy, Stay } from './directory.ts'
import type { Database, Move } from './move.ts'
import type { SplitOperator } from './operator.ts'

/** Routers are processes with numbers above this one, and clusters below it. */
export const ROUTERS_FROM = 100

export interface Site extends Database {
  server: Cluster
  /** Between the cluster's service and its database. */
  proxy: TcpProxy
}

type Faults = Record<string, Fault>

/** Faults of one cluster, which only the owners on that cluster may notice. */
export function clusterFaults(sites: readonly Site[], fleet: Fleet): Faults {
  const ofServer = ['server restarted'].map((name) => {
    const faults = sites.map(({ server, url }) => postgresFaults(server, url)[name]!)
    return [name, onOne(sites, faults)] as const
  })
  const ofProcess = Object.entries(processFaults(fleet, true)).map(([name, { effect, commit }]) => {
    // The router answers for a service that does not.
    const failures = [...effect.failures, 'authentication'] as const
    return [name, { effect: { ...effect, failures, aftermathMs: 500 }, commit }] as const
  })
  return Object.fromEntries([...ofServer, ...ofProcess])
}

/** Faults of the network between the service of a cluster and its database. */
export function networkFaultsOf(sites: readonly Site[]): Faults {
  const names = ['network cut', 'network silent']
  return Object.fromEntries(
    names.map((name) => {
      const faults = sites.map(({ proxy, cluster }) => networkFaults(proxy, cluster)[name]!)
      return [name, onOne(sites, faults)]
    }),
  )
}

/** The same fault at one of the clusters. */
function onOne(sites: readonly Site[], faults: readonly Fault[]): Fault {
  return {
    effect: faults[0]!.effect,
    async commit(random, scene) {
      const site = random.pick(sites)
      const touched = await faults[site.cluster - 1]!.commit(random, scene)
      return touched === null ? null : { ...touched, process: site.cluster }
    },
  }
}

/** A router loses the directory, for shorter or longer than its lease. */
export function routerFaults(copies: readonly DirectoryCopy[]): Faults {
  const cut: Commit = async (random) => {
    const router = Math.floor(random.between(0, copies.length))
    copies[router]!.cutOff(true)
    await delay(random.between(100, 1_500))
    copies[router]!.cutOff(false)
    return { process: ROUTERS_FROM + router }
  }
  const effect = { failures: ['authentication'], aftermathMs: 200 } as const
  return withEffect(effect, { 'router cut off': cut })
}

/** An owner moves to another cluster. Meanwhile its keys get the authentication 502. */
export function moves(
  sites: readonly Site[],
  directory: Directory,
  operator: SplitOperator,
  move: Move,
): Faults {
  const commit: Commit = async (random, { owners }) => {
    const { name, userId } = random.pick(owners)
    await operator.alone(userId, async () => {
      const from = sites[directory.placeOf(userId)! - 1]!
      const to = random.pick(sites.filter((site) => site !== from))
      await move(directory, userId, from, to)
    })
    return { owner: name }
  }
  return withEffect({ failures: ['authentication'] }, { 'owner moved': commit })
}

/**
 * A cluster's fault touches the owners who were on that cluster until its aftermath was over. A
 * service without owners notices the fault when the next owner arrives, so its aftermath begins
 * then. Replaces the incidents of clusters by those of their owners, each while the owner is there.
 */
export function blameByOwner(
  incidents: Incident[],
  owners: readonly Pick<Owner, 'userId' | 'name'>[],
  stays: readonly Stay[],
): void {
  const names = new Map(owners.map(({ userId, name }) => [userId, name]))
  const ofOwners = (incident: Incident): Incident[] => {
    const { process, t0, t1, aftermath } = incident
    if (process === 0 || process >= ROUTERS_FROM) return [incident]
    const there = stays.filter(({ cluster, to }) => cluster === process && to > t0)
    const noticed = noticedAt(incident, there)
    const touched = there.filter(({ from }) => from < noticed + aftermath)
    return touched.map(({ owner, from, to }) => {
      const begin = Math.max(t0, from)
      const end = Math.max(t1, Math.min(noticed, to))
      const over = end + aftermath
      const until = Math.max(begin, end)
      const name = names.get(owner) ?? '?'
      return { ...incident, t0: begin, t1: until, aftermath: over - until, process: 0, owner: name }
    })
  }
  incidents.splice(0, incidents.length, ...incidents.flatMap(ofOwners))
}

/** Within this time, the clients of an owner send a request, in microseconds. */
const USED_US = 200_000

/** The end of the fault, or the first arrival after it if no owner used the cluster then. */
function noticedAt({ t1 }: Incident, there: readonly Stay[]): number {
  const uses = there
    .map(({ settled, leaving }) => ({ from: Math.max(t1, settled), to: leaving }))
    .filter(({ from, to }) => to - from >= USED_US)
  return uses.length === 0 ? t1 : Math.min(...uses.map(({ from }) => from))
}
