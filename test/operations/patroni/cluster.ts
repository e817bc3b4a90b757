import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { give } from '../../fixtures/postgres/cluster.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { ask } from '../../fixtures/requests.ts'
import type { Ends } from '../../reliability/history/battlefield/ends.ts'
import { endDaemon, freeFixedPort, startDaemon } from '../../fixtures/daemon/daemon.ts'
import { endLease, startEtcd, UNPRIVILEGED } from './etcd.ts'
import { replaced } from './shipped.ts'

/** Patroni and PostgreSQL may need this long for a step on a busy machine, in milliseconds. */
const STEP_MS = 120_000

/** etcd, two PostgreSQL servers under Patroni and HAProxy, with the files of `deploy/patroni/`. */
export interface PatroniCluster {
  /** Names both servers. */
  url(database: string): string
  /** Goes through HAProxy. */
  proxiedUrl(database: string): string
  /** Whether the standby confirms each commit. */
  isSynchronous(): Promise<boolean>
  /**
   * Kills Patroni and PostgreSQL of the primary with SIGKILL, and waits until the standby is
   * promoted. Returns the instant of the promotion by the server's log, in milliseconds since 1970.
   */
  killPrimary(): Promise<number>
  /**
   * Starts the killed server, and waits until it follows the new primary and confirms its commits.
   * False if both run.
   */
  bringBack(): Promise<boolean>
}

interface Node {
  name: string
  folder: string
  port: number
  restPort: number
  patroni: ChildProcess | null
}

/**
 * With the shipped times, a busy machine can make Patroni change the primary by itself. A patient
 * cluster waits for minutes. There the test ends the dead primary's lease, as its time would.
 */
export async function startPatroniCluster(
  t: Ends,
  { isPatient = false }: { isPatient?: boolean } = {},
): Promise<PatroniCluster> {
  const folder = temporaryFolder(t)
  give(folder)
  const etcdPort = await startEtcd(t, folder)
  const nodes: [Node, Node] = [await makeNode(folder, 'db1'), await makeNode(folder, 'db2')]
  const start = async (node: Node) => {
    const file = writeConfig(node, etcdPort, isPatient)
    node.patroni = await startDaemon(t, '/usr/bin/patroni', [file], {
      port: node.restPort,
      log: join(node.folder, 'log'),
      ...UNPRIVILEGED,
    })
    t.after(() => killNode(node))
  }
  for (const node of nodes) {
    await start(node)
    if (node === nodes[0]) await within(STEP_MS, () => has(node, '/primary'))
  }
  const proxyPort = await startProxy(t, folder, nodes)
  const primary = async () => ((await has(nodes[0], '/primary')) ? nodes[0] : nodes[1])
  const isSynchronous = async () =>
    (await Promise.all(nodes.map((node) => has(node, '/sync')))).includes(true)
  await within(STEP_MS, isSynchronous)
  return {
    url: (database) => urlOf(nodes.map(({ port }) => `127.0.0.1:${port}`).join(), database),
    proxiedUrl: (database) => urlOf(`127.0.0.1:${proxyPort}`, database),
    isSynchronous,

    async killPrimary() {
      const killed = await primary()
      const other = nodes.find((node) => node !== killed)!
      const before = promotions(other).length
      await killNode(killed)
      if (isPatient) await endLease(etcdPort)
      await within(STEP_MS, async () => promotions(other).length > before)
      await asAdmin(urlOf(`127.0.0.1:${other.port}`, 'postgres'), async (client) => {
        const { rows } = await client.query('SELECT pg_is_in_recovery() AS recovers')
        assert.deepEqual(rows, [{ recovers: false }])
      })
      return promotions(other).at(-1)!
    },

    async bringBack() {
      const dead = nodes.find(({ patroni }) => patroni === null)
      if (dead === undefined) return false
      await start(dead)
      await within(STEP_MS, () => has(dead, '/sync'))
      return true
    },
  }
}

function urlOf(hosts: string, database: string): string {
  return `postgres://postgres:secret@${hosts}/${database}`
}

async function makeNode(parent: string, name: string): Promise<Node> {
  const folder = join(parent, name)
  mkdirSync(folder)
  give(folder)
  const [port, restPort] = [await freeFixedPort(), await freeFixedPort()]
  return { name, folder, port, restPort, patroni: null }
}

function writeConfig(
  { name, folder, port, restPort }: Node,
  etcdPort: number,
  isPatient: boolean,
): string {
  const config = replaced('deploy/patroni/patroni.yml', {
    'name: db1': `name: ${name}`,
    '10.0.0.11:2379,10.0.0.12:2379,10.0.0.13:2379': `127.0.0.1:${etcdPort}`,
    '10.0.0.1:8008': `127.0.0.1:${restPort}`,
    '10.0.0.1:5432': `127.0.0.1:${port}`,
    '10.0.0.0/24': '127.0.0.1/32',
    '/var/lib/postgresql/15/listing': join(folder, 'data'),
    '/var/lib/postgresql/15/pgpass': join(folder, 'pgpass'),
    '/var/run/postgresql': folder,
    'CHANGE-ME': 'secret',
    ...(isPatient ? PATIENT : {}),
  })
  const file = join(folder, 'patroni.yml')
  writeFileSync(file, config)
  return file
}

/** Patroni wants `ttl` to be at least `loop_wait` and twice `retry_timeout`. */
const PATIENT = { 'ttl: 20': 'ttl: 300', 'retry_timeout: 5': 'retry_timeout: 120' }

async function startProxy(t: Ends, folder: string, [one, two]: [Node, Node]): Promise<number> {
  const port = await freeFixedPort()
  const config = replaced('deploy/patroni/haproxy.cfg', {
    'bind 127.0.0.1:5432': `bind 127.0.0.1:${port}`,
    '10.0.0.1:5432 check port 8008': `127.0.0.1:${one.port} check port ${one.restPort}`,
    '10.0.0.2:5432 check port 8008': `127.0.0.1:${two.port} check port ${two.restPort}`,
  })
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, config)
  const log = join(folder, 'haproxy.log')
  await startDaemon(t, '/usr/sbin/haproxy', ['-db', '-f', file], { port, log })
  return port
}

/** As if the machine were gone. PostgreSQL's other processes end with the first one. */
async function killNode(node: Node): Promise<void> {
  if (node.patroni === null) return
  await endDaemon(node.patroni, 'SIGKILL')
  node.patroni = null
  const pidFile = join(node.folder, 'data/postmaster.pid')
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  process.kill(pid, 'SIGKILL')
}

/** Whether a server answers that it has this role. */
async function has({ restPort }: Node, path: string): Promise<boolean> {
  return ask(restPort, { path }).then(
    ({ status }) => status === 200,
    () => false,
  )
}

/** When the server became a primary, in milliseconds since 1970. */
function promotions({ folder }: Node): number[] {
  const log = readFileSync(join(folder, 'log'), 'utf8')
  const lines = log.matchAll(/^(\S+ \S+) (\w+) \[\d+\] LOG: {2}archive recovery complete/gm)
  return [...lines].map(([, at, zone]) => Date.parse(`${at} ${zone}`))
}

async function within(ms: number, isSo: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + ms
  while (!(await isSo())) {
    assert.ok(performance.now() < until, `the condition was not met within ${ms} ms`)
    await delay(20)
  }
}
