import { type Peer, testExactness } from './exactness.ts'
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDriver } from '../load/driver.ts'
import { cpuSecondsOf } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { openFile, openKeys, type Scene } from '../scene.ts'
import { type Subject, startServe, startSubject } from '../subject.ts'
import type { Result } from '../table.ts'

const HERE = import.meta.dirname
const BUN = join(HERE, 'node_modules/.bin/bun')

/** better-auth issues its keys itself, slowly, and answers fewer requests per second. */
const BETTER_AUTH_KEYS = 8_000

/** How to start each peer on the database at `path`. */
const PEERS: Record<string, (scene: Scene, name: string, path: string) => Promise<Subject>> = {
  service: ({ children }, name, path) => startServe(children, name, `sqlite:${path}`),
  Fastify: assembly(process.execPath, 'fastify-main.js'),
  'Hono, Node.js': assembly(process.execPath, 'hono-main.js'),
  'Hono, Bun': assembly(BUN, 'hono-bun-main.js'),
  'better-auth': ({ children }, name, path) =>
    startSubject(children, name, [
      process.execPath,
      join(HERE, 'better-auth-main.js'),
      path,
      `${path}.keys`,
      String(BETTER_AUTH_KEYS),
    ]),
}

export async function measurePeers(scene: Scene): Promise<Result[]> {
  if (!existsSync(BUN))
    throw new Error('the peers are not installed; bench/README.md says how to install them')
  const file = await openFile(scene, 'bench.db')
  const peers: Peer[] = []
  for (const name of Object.keys(PEERS)) peers.push(await openPeer(scene, file, name))
  for (const peer of peers) console.log(`${peer.name}: ${await testExactness(peer)}`)
  for (const { driver, subject } of peers) await driver.run(subject, scene.settings.warmUpSeconds)
  const rounds = await runRounds({
    title: `200s per CPU second, under ${peers[0]!.driver.name}`,
    count: scene.settings.rounds,
    async measure() {
      const row: Record<string, number> = {}
      for (const peer of peers) row[peer.name] = await perCpuSecond(peer, scene)
      return row
    },
  })
  const times = (name: string) =>
    medianOf<string>(rounds, 'service') / medianOf<string>(rounds, name)
  return [
    ['200s per CPU second, service / Fastify', times('Fastify'), '≥ 2.5'],
    ['200s per CPU second, service / Hono on Node.js', times('Hono, Node.js'), '≥ 1'],
    ['200s per CPU second, service / Hono on Bun', times('Hono, Bun'), '≥ 1'],
    ['200s per CPU second, service / better-auth', times('better-auth'), '≥ 20'],
  ]
}

async function openPeer(scene: Scene, file: string, name: string): Promise<Peer> {
  const path = join(scene.folder, `${name.replaceAll(/\W+/g, '-')}.db`)
  copyFileSync(file, path)
  const start = () => PEERS[name]!(scene, name, path)
  const subject = await start()
  const issuesKeys = existsSync(`${path}.keys`)
  const ownKeys = issuesKeys ? readFileSync(`${path}.keys`, 'utf8').trim().split('\n') : undefined
  const keys = openKeys(scene, name, ownKeys)
  return {
    name,
    path,
    keys,
    issuesKeys,
    driver: openDriver(scene, keys),
    subject,
    async restart() {
      process.kill(subject.pid, 'SIGKILL')
      Object.assign(subject, await start())
    },
  }
}

function assembly(runtime: string, program: string) {
  return ({ children }: Scene, name: string, path: string) =>
    startSubject(children, name, [runtime, join(HERE, program), path])
}

async function perCpuSecond({ name, driver, subject }: Peer, { settings }: Scene): Promise<number> {
  const before = cpuSecondsOf(subject.pid)
  const { ok, other } = await driver.run(subject, settings.seconds)
  assert.equal(other, 0, `${name} sent ${other} answers other than 200`)
  return ok / (cpuSecondsOf(subject.pid) - before)
}
