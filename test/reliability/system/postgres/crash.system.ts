import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createLedger, type Ledger } from '../../crash/journal.ts'
import { compileWriter, startWriter, type Writer } from '../../crash/writer.ts'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../../fixtures/postgres/database.ts'
import { randomFrom, seedOfRun } from '../../../fixtures/random.ts'

/*
 * On PostgreSQL the writing process, a backend or the server is killed with SIGKILL. The next
 * process finds all acknowledged acts, and each unfinished one fully or not at all.
 */

const LINES_MAX = 40
const MORE_MS_MAX = 6
const RETURN_MS = 30_000

const SEED = seedOfRun()
const random = randomFrom(SEED)
let cluster: Cluster
let url: string
before(async () => {
  cluster = await startCluster()
  url = await createDatabase(cluster)
  await compileWriter(url)
})
after(() => cluster.remove())

const ledger = createLedger()

test('killing 20 writing processes loses no acknowledged act', async (t) => {
  t.diagnostic(`SEED=${SEED}`)
  t.diagnostic(await rounds(20, async (writer) => writer.kill()))
})

test('killing 8 backends loses no acknowledged act, and the server recovers', async (t) => {
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

test('killing and restarting 4 servers loses no acknowledged act', async (t) => {
  t.diagnostic(
    await rounds(4, async (writer) => {
      process.kill(cluster.postmasterPid(), 'SIGKILL')
      await writer.ended
      await insist(() => cluster.start())
    }),
  )
})

/**
 * Starts a writer, lets `kill` interrupt it and waits for the database, round by round. A last
 * writer checks the content.
 */
async function rounds(count: number, kill: (writer: Writer) => Promise<void>): Promise<string> {
  const before = { ...ledger } satisfies Ledger
  for (let round = 0; round < count; round += 1) {
    const writer = startWriter(url, 'service', drawSeed())
    await writer.hasPrinted(Math.floor(random.between(3, LINES_MAX)))
    await delay(random.between(0, MORE_MS_MAX))
    await kill(writer)
    for (const line of await writer.ended) ledger.take(line)
    await insist(() => asAdmin(url, (client) => client.query('SELECT 1')))
  }
  for (const line of await startWriter(url, 'service', drawSeed(), 1).ended) ledger.take(line)
  const acknowledged = ledger.acknowledged - before.acknowledged
  const cutOff = ledger.cutOff - before.cutOff
  assert.ok(acknowledged >= count && cutOff > 0, 'too few acts were acknowledged or cut off')
  return `${count} kills; ${acknowledged} acts and ${ledger.claims - before.claims} claims were acknowledged, none was lost; ${cutOff} acts were cut off, ${ledger.doneUnacknowledged - before.doneUnacknowledged} of them are done`
}

function drawSeed(): number {
  return Math.floor(random.between(0, 2 ** 31))
}

/** Retries until the server is up, or until the remains of the last one are gone. */
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
