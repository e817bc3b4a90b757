import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createToken, hashToken } from '../../src/accounts/token.ts'
import { freePort } from '../../test/fixtures/free-port.ts'
import { uuidOf } from '../../test/fixtures/uuid-of.ts'
import { cpuSecondsOf } from '../proc.ts'
import { medianOf, runRounds } from '../rounds.ts'
import { askAtRate, openKeys, type Scene, SERVERS_PER_OWNER } from '../scene.ts'
import { keysOf, seedSqlite } from '../seed.ts'
import { startServe } from '../subject.ts'
import type { Result } from '../table.ts'

const KEYS = 10_000

/** What a document of acts costs on SQLite, and what claims wait beside many. */
export async function measureHttp(scene: Scene): Promise<Result[]> {
  const [port, token, tokens] = [await freePort(), createToken(), join(scene.folder, 'tokens')]
  writeFileSync(tokens, `site ${hashToken(token)}\n`)
  await seedSqlite(join(scene.folder, 'acts.db'), KEYS, SERVERS_PER_OWNER)
  const database = `sqlite:${join(scene.folder, 'acts.db')}`
  const settings = { MANAGEMENT_PORT: String(port), MANAGEMENT_TOKENS_FILE: tokens }
  const service = await startServe(scene.children, 'service', database, undefined, settings)
  const keys = openKeys(scene, 'acts', keysOf(KEYS))
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  let version = 0

  /** Changes users, and a server of each. */
  async function post(count: number, first: number): Promise<void> {
    version += 1
    const users = Array.from({ length: count }, (_, n) => ({ external_id: `${first + n}` }))
    const server = (n: number) => ({
      id: uuidOf(first + n),
      name: `${version}`,
      address: 'a.example',
    })
    const body = JSON.stringify({
      put_users: users.map((user, n) => ({ ...user, email: `${version}-${n}@a.example` })),
      put_servers: users.map((user, n) => ({ ...user, ...server(n) })),
    })
    const url = `http://127.0.0.1:${port}/v1/acts`
    const answer = await fetch(url, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(await answer.text())
    await answer.arrayBuffer()
  }

  /** Milliseconds of the service's CPU time for each of several documents. */
  async function cost(documents: number, count: number): Promise<number> {
    const before = cpuSecondsOf(service.pid)
    for (let n = 0; n < documents; n += 1) await post(count, n * count)
    return (1_000 * (cpuSecondsOf(service.pid) - before)) / documents
  }

  /** The p99 of 500 claims per second, beside this many documents per second. */
  async function claim(documents: number): Promise<number> {
    const pace = { rate: 500, seconds: 3 + scene.settings.seconds, uncountedSeconds: 3 }
    const claiming = askAtRate(scene, service, keys, pace)
    const posts = []
    for (; posts.length < documents * (pace.seconds + 1); await delay(1_000 / documents))
      posts.push(post(1, posts.length))
    const [{ p99, other, unanswered }] = await Promise.all([claiming, ...posts])
    if (other + unanswered > 0) throw new Error(`${other + unanswered} claims failed`)
    return p99
  }

  const measure = async () => {
    const costs = { thousand: await cost(4, 1_000), one: await cost(100, 1) }
    const [alone, beside] = [await claim(0), await claim(50)]
    return { ...costs, alone, beside, ratio: beside / alone }
  }
  await cost(20, 1_000)
  const title = 'CPU of a document with 1,000 users and servers, and with 1; p99 of claims, in ms'
  const rounds = await runRounds({ title, count: scene.settings.rounds, tries: 2, measure })
  return [
    ['CPU of a document with one user and server', medianOf(rounds, 'one'), '≤ 10 ms'],
    ['the same with 1,000 of each', medianOf(rounds, 'thousand'), '≤ 250 ms'],
    ['p99 of claims, beside 50 documents per second / alone', medianOf(rounds, 'ratio'), '≤ 1.5'],
  ]
}
