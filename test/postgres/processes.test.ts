import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Program, programIn, type Served } from '../cli/program.ts'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres-database.ts'
import { ask } from '../fixtures/requests.ts'

/*
 * Four processes on one database are one service: one limit, one listing, one revocation.
 */

const PROCESSES = 4
const CONNECTIONS = 50
const SECONDS = 10
const ROUNDS_MAX = 3

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

interface Scene {
  url: string
  program: Program
  services: Served[]
  key: string
}

async function setScene(t: TestContext): Promise<Scene> {
  const url = await createDatabase(cluster)
  const program = programIn(t)
  const options = { env: { DATABASE_URL: url } }
  await program.done('user add ada@example.com', options)
  const key = await program.done('key issue --user ada@example.com --name bot', options)
  const services = await Promise.all(
    Array.from({ length: PROCESSES }, () => program.serve(options)),
  )
  return { url, program, services, key }
}

test('fifty connections to each of four processes, one key, ten seconds: never two uses within one', async (t) => {
  const { url, services, key } = await setScene(t)
  // The database's own record, made where the stamp is.
  await asAdmin(url, (client) =>
    client.query(`
      CREATE TABLE stamps (used_at timestamptz);
      CREATE FUNCTION note_stamp() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN INSERT INTO stamps VALUES (NEW.last_used_at); RETURN NULL; END$$;
      CREATE TRIGGER note_stamp AFTER UPDATE OF last_used_at ON api_keys
        FOR EACH ROW EXECUTE FUNCTION note_stamp()`),
  )
  let counts = await hammer(t, services, key)
  // A machine that stands still makes the service give up requests, rightly: what is exact holds in each round, and
  // that all the rest is 429 in one of them.
  for (let round = 1; round < ROUNDS_MAX && counts.has(502); round += 1) {
    await assertSpaced(url, counts.get(200) ?? 0, counts.get(502)!)
    await delay(1_000)
    counts = await hammer(t, services, key)
  }
  const uses = counts.get(200) ?? 0
  t.diagnostic(`${uses} were 200, ${counts.get(429)} were 429`)
  assert.deepEqual(
    [...counts.keys()].toSorted((a, b) => a - b),
    [200, 429],
  )
  assert.ok(uses >= SECONDS - 2 && uses <= SECONDS + 1, `${uses} uses`)
  await assertSpaced(url, uses, 0)
})

/** Asks on every connection without a pause: how often each status came. */
async function hammer(
  t: TestContext,
  services: readonly Served[],
  key: string,
): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  const end = performance.now() + SECONDS * 1_000
  await Promise.all(
    services.flatMap(({ port }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
      t.after(() => agent.destroy())
      return Array.from({ length: CONNECTIONS }, async () => {
        while (performance.now() < end) {
          const { status } = await ask(port, { key, agent })
          counts.set(status, (counts.get(status) ?? 0) + 1)
        }
      })
    }),
  )
  return counts
}

/** The record of this round, which is forgotten then: a stamp for each 200, any two of them a second apart. */
async function assertSpaced(url: string, uses: number, unknown: number): Promise<void> {
  const gaps = await asAdmin(url, async (client) => {
    const { rows } = await client.query(`
      SELECT extract(epoch FROM used_at - lag(used_at) OVER (ORDER BY used_at)) AS gap FROM stamps ORDER BY used_at`)
    await client.query('TRUNCATE stamps')
    return rows.map(({ gap }) => (gap === null ? null : Number(gap)))
  })
  assert.ok(gaps.length >= uses && gaps.length <= uses + unknown, `${gaps.length} stamps`)
  for (const gap of gaps.slice(1))
    assert.ok(gap !== null && gap >= 1, `${gap} s between two stamps`)
}

test('a listing changed and a key revoked through one process are so on all at once', async (t) => {
  const { program, url, services, key } = await setScene(t)
  const options = { env: { DATABASE_URL: url } }
  const named = async (port: number) => {
    const until = performance.now() + 3_000
    for (;;) {
      const { status, body } = await ask(port, { key })
      if (status === 200) return JSON.parse(body).servers.map(({ name }: { name: string }) => name)
      assert.ok(status === 429 && performance.now() < until, `${status}: ${body}`)
    }
  }
  // Each process has the listing of before in its memory when it changes.
  for (const { port } of services) assert.deepEqual(await named(port), [])
  for (const [index, { port }] of services.entries()) {
    const stdin = `[{"name":"round ${index}","address":"a.example.com"}]`
    await program.done('server import --user ada@example.com -', { ...options, stdin })
    assert.deepEqual(await named(port), [`round ${index}`])
  }

  const [{ id }] = JSON.parse(await program.done('key list --user ada@example.com --json', options))
  await program.done(`key revoke --user ada@example.com ${id}`, options)
  const answers = await Promise.all(services.map(({ port }) => ask(port, { key })))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 401, 401],
  )
})
