import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createLedger, type Ledger } from '../crash/journal.ts'
import { compileWriter, startWriter, type Writer } from '../crash/writer.ts'
import { type Cluster, startCluster } from '../fixtures/postgres-cluster.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres-database.ts'
import { freshSeed, randomFrom } from '../history/random.ts'

/*
 * On PostgreSQL: the process that writes, a backend of the server or the server itself is killed with SIGKILL. Whatever was
 * acknowledged before is found by the next process, and of what was under way all or nothing.
 */

const LINES_MAX = 40
const MORE_MS_MAX = 6
const RETURN_MS = 30_000

const random = randomFrom(freshSeed())
let cluster: Cluster
let url: string
before(async () => {
  cluster = await startCluster()
  url = await createDatabase(cluster)
  await compileWriter(url)
})
after(() => cluster.remove())

const ledger = createLedger()

test('20 processes that write are killed', async (t) => {
  t.diagnostic(await rounds(20, async (writer) => writer.kill()))
})

test('8 backends are killed, and the server recovers', async (t) => {
  t.diagnostic(
    await rounds(8, async () => {
      const pids = await asAdmin(url, async (client) => {
        const { rows } = await client.query(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'server-listing'`,
        )
        return rows.map(({ pid }: { pid: number }) => pid)
      })
      process.kill(random.pick(pids), 'SIGKILL')
    }),
  )
})

test('4 servers are killed, and started again', async (t) => {
  t.diagnostic(
    await rounds(4, async (writer) => {
      process.kill(cluster.postmasterPid(), 'SIGKILL')
      await writer.ended
      await insist(() => cluster.start())
    }),
  )
})

/** Has a process write, lets `kill` do its work, and waits for the database; in the end somebody looks and goes on. */
async function rounds(count: number, kill: (writer: Writer) => Promise<void>): Promise<string> {
  const before = { ...ledger } satisfies Ledger
  for (let round = 0; round < count; round += 1) {
    const writer = startWriter(url, 'service')
    await writer.hasSaid(Math.floor(random.between(3, LINES_MAX)))
    await delay(random.between(0, MORE_MS_MAX))
    await kill(writer)
    for (const line of await writer.ended) ledger.take(line)
    await insist(() => asAdmin(url, (client) => client.query('SELECT 1')))
  }
  for (const line of await startWriter(url, 'service', 1).ended) ledger.take(line)
  const acknowledged = ledger.acknowledged - before.acknowledged
  const cutOff = ledger.cutOff - before.cutOff
  assert.ok(acknowledged >= count && cutOff > 0, 'hardly anything was written')
  return `${count} kills; ${acknowledged} acts and ${ledger.uses - before.uses} uses were acknowledged, none is lost; ${cutOff} acts were cut off, ${ledger.doneUnheard - before.doneUnheard} of them are done`
}

/** Until the server is there, or what is left of the one before is gone. */
async function insist(work: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + RETURN_MS
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      if (performance.now() > until) throw error
    }
    await delay(50)
  }
}
