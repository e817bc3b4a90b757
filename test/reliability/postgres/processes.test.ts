import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, before, type TestContext, test } from 'node:test'
import { type Program, programIn, type Served } from '../../cli/program.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { ask } from '../../fixtures/requests.ts'
import { watchForStalls } from '../history/faults/stalls.ts'
import { type Incident, now } from '../history/record/record.ts'

/*
 * Four processes on one database are one service: they share the limit, the listings and the
 * revocations.
 */

const PROCESSES = 4
const CONNECTIONS = 50
const SECONDS = 10

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
  await program.done('user add ada@example.com --create', options)
  const key = await program.done('key issue --user ada@example.com --name bot', options)
  const services = await Promise.all(
    Array.from({ length: PROCESSES }, () => program.serve(options)),
  )
  return { url, program, services, key }
}

test('200 connections to four processes get one key at most once per second', async (t) => {
  const { url, services, key } = await setScene(t)
  // The database's own record of each stamp.
  await asAdmin(url, (client) =>
    client.query(`
      CREATE TABLE stamps (claimed_at timestamptz);
      CREATE FUNCTION note_stamp() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN INSERT INTO stamps VALUES (NEW.last_used_at); RETURN NULL; END$$;
      CREATE TRIGGER note_stamp AFTER UPDATE OF last_used_at ON api_keys
        FOR EACH ROW EXECUTE FUNCTION note_stamp()`),
  )
  const stalled: { incidents: Incident[] } = { incidents: [] }
  const stalls = watchForStalls(stalled)
  const startedAt = performance.now()
  const answers = await hammer(t, services, key)
  const seconds = (performance.now() - startedAt) / 1_000
  stalls.stop()
  const [granted = [], refused = [], failed = []] = [200, 429, 502].map((wanted) =>
    answers.filter(({ status }) => status === wanted),
  )
  const [used, unknown] = [granted.length, failed.length]
  t.diagnostic(`${used} were 200, ${refused.length} were 429, ${unknown} were 502`)
  assert.equal(used + refused.length + unknown, answers.length, 'another status')
  assert.ok(refused.length > PROCESSES * CONNECTIONS, `${refused.length} were 429`)
  // Only a machine that stood still explains a 502.
  const unexplained = failed.filter(
    ({ from, to }) =>
      !stalled.incidents.some(({ t0, t1, aftermath }) => from < t1 + aftermath && to > t0),
  )
  assert.deepEqual(unexplained, [])
  assert.ok(used >= 2 && used <= 1 + seconds, `${used} granted in ${seconds} s`)
  // A failed request may have been granted, too.
  const causes = [...granted, ...failed]
  const uncaused = refused.filter(
    ({ from, to }) => !causes.some((cause) => cause.from < to && from - cause.to < 1_000_000),
  )
  assert.deepEqual(uncaused, [], 'a 429 without a granted claim in the last second')
  await assertSpaced(url, used, unknown)
})

interface Answered {
  status: number
  /** Microseconds on the clock of the record. */
  from: number
  to: number
}

/** Sends requests on all connections without a pause. */
async function hammer(
  t: TestContext,
  services: readonly Served[],
  key: string,
): Promise<Answered[]> {
  const answers: Answered[] = []
  const end = performance.now() + SECONDS * 1_000
  await Promise.all(
    services.flatMap(({ port }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
      t.after(() => agent.destroy())
      return Array.from({ length: CONNECTIONS }, async () => {
        while (performance.now() < end) {
          const from = now()
          const { status } = await ask(port, { key, agent })
          answers.push({ status, from, to: now() })
        }
      })
    }),
  )
  return answers
}

/**
 * Checks the database's record: one stamp per 200, at most one per 502, and one second between any
 * two.
 */
async function assertSpaced(url: string, granted: number, unknown: number): Promise<void> {
  const gaps = await asAdmin(url, async (client) => {
    const { rows } = await client.query(`
      SELECT extract(epoch FROM claimed_at - lag(claimed_at) OVER (ORDER BY claimed_at)) AS gap FROM stamps ORDER BY claimed_at`)
    return rows.map(({ gap }) => (gap === null ? null : Number(gap)))
  })
  assert.ok(gaps.length >= granted && gaps.length <= granted + unknown, `${gaps.length} stamps`)
  for (const gap of gaps.slice(1))
    assert.ok(gap !== null && gap >= 1, `${gap} s between two stamps`)
}

test('a changed listing or revoked key in one process changes all processes at once', async (t) => {
  const { program, url, services, key } = await setScene(t)
  const options = { env: { DATABASE_URL: url } }
  const named = async (port: number) => {
    const until = performance.now() + 60_000
    for (;;) {
      const { status, body } = await ask(port, { key })
      if (status === 200) return JSON.parse(body).servers.map(({ name }: { name: string }) => name)
      assert.ok(status === 429 && performance.now() < until, `${status}: ${body}`)
    }
  }
  // Each process has cached the previous listing when it changes.
  for (const { port } of services) assert.deepEqual(await named(port), [])
  for (const [index, { port }] of services.entries()) {
    const stdin = `[{"name":"round ${index}","address":"a.example.com","slug":"a"}]`
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
