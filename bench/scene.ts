import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { install, pack } from '../scripts/package/installed.ts'
import { type Cluster, startCluster } from '../test/fixtures/postgres/cluster.ts'
import { type Children, createChildren } from './children.ts'
import { type Latencies, type Paced, runPaced } from './load/programs.ts'
import { keysOf, seedSqlite } from './seed.ts'
import { startServe, type Subject } from './subject.ts'
import { versions } from './table.ts'

/** The length of a run. */
export interface Settings {
  rounds: number
  /** Seconds of load on one server in one round. */
  seconds: number
  warmUpSeconds: number
  /** Requests that each server answers before its memory is read. */
  requests: number
  /** The folder of an older tree to compare with. Empty except for the suite that needs one. */
  tree: string
}

/** What a suite opens, and closes together. */
export interface Scene {
  settings: Settings
  children: Children
  /** For files. `close` deletes it. */
  folder: string
  /** `close` calls this function, and the ones given before it afterwards. */
  atEnd(end: () => Promise<unknown>): void
  /** Harmless when repeated. */
  close(): Promise<void>
}

/** Keys that load generators use in turn, from a file. */
export interface Keys {
  all: readonly string[]
  path: string
  /** The number of the least recently used key. */
  next: number
}

export const KEYS = 100_000
export const SERVERS_PER_OWNER = 10

export function openScene(settings: Settings): Scene {
  if (spawnSync('wrk', ['--version']).error !== undefined)
    throw new Error("the benchmark can't start wrk: install it, on Debian with apt-get install wrk")
  const children = createChildren()
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-bench-'))
  const ends: (() => Promise<unknown>)[] = []
  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    children.endAll()
    for (const end of ends) await end()
    rmSync(folder, { recursive: true, force: true })
  }

  return {
    settings,
    children,
    folder,
    atEnd: (end) => ends.unshift(end),
    close: () => (closing ??= close()),
  }
}

/** Seeds a SQLite file of 100,000 keys. Returns its path. */
export async function openFile({ folder }: Scene, name: string): Promise<string> {
  const path = join(folder, name)
  console.log('seeding a file: 20,000 owners, 200,000 servers, 100,000 keys')
  await seedSqlite(path, KEYS, SERVERS_PER_OWNER)
  return path
}

/**
 * Installs the package of this tree, as an operator does, starts the service on such a file, and
 * writes the file's keys for load generators. From its sources the service would take more memory,
 * because Node.js removes their types.
 */
export async function openService(scene: Scene): Promise<{ service: Subject; keys: Keys }> {
  const file = await openFile(scene, 'bench.db')
  const command = install(pack(scene.folder), join(scene.folder, 'installed'))
  const tree = join(dirname(command), '../server-listing')
  const service = await startServe(scene.children, 'service', `sqlite:${file}`, tree)
  return { service, keys: openKeys(scene, 'bench') }
}

export async function openCluster(
  { atEnd }: Scene,
  settings: Record<string, string> = {},
): Promise<Cluster> {
  const cluster = await startCluster({ settings })
  atEnd(cluster.remove)
  const server = join(cluster.binaries, 'postgres')
  versions.PostgreSQL = execFileSync(server, ['--version'], { encoding: 'utf8' }).trim()
  return cluster
}

/** A cluster that writes as durably as an operator's, without a checkpoint during a run. */
export function openBenchCluster(scene: Scene): Promise<Cluster> {
  return openCluster(scene, {
    fsync: 'on',
    shared_buffers: '1GB',
    max_wal_size: '8GB',
    checkpoint_timeout: '30min',
  })
}

/** Writes keys to a file that load generators read. */
export function openKeys({ folder }: Scene, name: string, all = keysOf(KEYS)): Keys {
  const path = join(folder, `${name}.keys`)
  writeFileSync(path, `${all.join('\n')}\n`, { mode: 0o600 })
  return { all, path, next: 0 }
}

/** Sends requests to a server at a fixed rate per second, from a process of their own. */
export async function askAtRate(
  { children }: Scene,
  subject: Subject,
  keys: Keys,
  pace: Pick<Paced, 'rate' | 'seconds' | 'uncountedSeconds' | 'startsAt'>,
): Promise<Latencies> {
  const { port } = subject
  const load = { port, keysPath: keys.path, from: keys.next, connections: 128 }
  const latencies = await runPaced(children, { ...load, ...pace })
  subject.answered += latencies.ok + latencies.other
  keys.next = (keys.next + Math.round(pace.rate * pace.seconds)) % keys.all.length
  return latencies
}
