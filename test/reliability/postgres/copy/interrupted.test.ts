import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Begun } from '../../../cli/process.ts'
import { assertRefused } from '../../../cli/command.ts'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { ADA, addAda, addManyKeys, type Ledger, ledgerOn } from './ledger.ts'

/*
 * What waits for a running `copy`, and what an interrupted one leaves behind.
 */

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

test('no process can serve the file or write to it while it is copied', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  await addAda(ledger)
  await inMidCopy(ledger, async (begun) => {
    assertRefused(await ledger.program.begin('serve').ended, 1, `process ${begun.pid}`)
    assert.throws(
      () => ledger.inFile((database) => database.exec('DELETE FROM users')),
      /database is locked/,
    )
  })
})

for (const signal of ['SIGINT', 'SIGKILL'] as const)
  test(`${signal} among the keys leaves the database empty; a second run copies all`, async (t) => {
    const ledger = await ledgerOn(t, cluster)
    await addAda(ledger)
    ledger.inFile((database) => addManyKeys(database, 3_000))
    await inMidCopy(ledger, async (begun) => {
      begun.kill(signal)
      const ended = await begun.ended
      assert.deepEqual([ended.code, ended.signal, ended.stdout], [null, signal, ''])
    })
    assert.equal(await ledger.countTarget(), 0)
    const again = await ledger.copy()
    assert.match(again.stderr, /3,001 in users.* 15,002 in api_keys/)
    assert.equal(await ledger.countTarget(), 3_001 + 1 + 2 + 15_002)
  })

test('a connection that the server ends leaves the database empty, with a message', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  await addAda(ledger)
  await inMidCopy(ledger, async (begun) => {
    await ledger.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'server-listing' AND datname = current_database()`,
    )
    assertRefused(await begun.ended, 1, 'nothing was copied', 'terminat')
  })
  assert.equal(await ledger.countTarget(), 0)
  assert.equal((await ledger.copy()).code, 0)
})

test('a copy survives pauses that are too long for a transaction of the service', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  await addAda(ledger)
  let paused: Begun | undefined
  await inMidCopy(ledger, async (begun) => {
    begun.kill('SIGSTOP')
    paused = begun
  })
  await delay(3_000)
  paused!.kill('SIGCONT')
  const { code, stderr } = await paused!.ended
  assert.equal(code, 0, stderr)
  assert.equal(await ledger.countTarget(), 6)
})

test('a second copy at the same time waits for the first and is refused', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  await addAda(ledger)
  const other = ledger.program.databasePath.replace('listing.db', 'other.db')
  const onOther = { env: { DATABASE_URL: `sqlite:${other}` } }
  await ledger.program.done('user add eve@example.com --create', onOther)
  let second: Begun | undefined
  await inMidCopy(ledger, async () => {
    second = ledger.program.begin(`copy --from sqlite:${other}`, ledger.onPostgres)
    await delay(1_000)
  })
  assertRefused(await second!.ended, 1, 'must be empty')
  assert.equal((await ledger.query('SELECT email FROM users'))[0]?.email, ADA)
})

/** Runs `body` after the users and servers are written, while the keys wait for a lock. */
async function inMidCopy(ledger: Ledger, body: (begun: Begun) => Promise<void>): Promise<void> {
  await ledger.program.done('migrate', ledger.onPostgres)
  await ledger.asAdmin(async (client) => {
    await client.query('BEGIN; LOCK TABLE api_keys IN SHARE MODE')
    const begun = ledger.beginCopy()
    const isWaiting = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO "api_keys"%'`
    const startedAt = performance.now()
    while ((await ledger.query(isWaiting)).length === 0) {
      assert.ok(
        performance.now() - startedAt < 10_000,
        'the copy did not reach the keys within ten seconds',
      )
      await delay(10)
    }
    await body(begun)
    await client.query('ROLLBACK')
  })
}
