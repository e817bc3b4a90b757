import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import pg from 'pg'
import { openDatabase } from '../../../src/postgres/database.ts'
import { COMMAND } from '../../../src/postgres/patience.ts'
import { inspectStandbys } from '../../../src/postgres/standbys.ts'
import { logLines, programIn } from '../../cli/program.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'

/*
 * What `serve` says at its start about a standby whose promotion would lose acknowledged changes.
 */

const COMPLAINT = /^a standby follows .* synchronous_standby_names is empty: .*revocations/

let cluster: Cluster
let url: string
let ordinary: string
before(async () => {
  cluster = await startCluster({ settings: { wal_level: 'logical' } })
  url = await createDatabase(cluster)
  await admin(`CREATE ROLE ordinary LOGIN PASSWORD 'secret'`)
  ordinary = url.replace('postgres:secret', 'ordinary:secret')
})
after(() => cluster.remove())

const admin = (sql: string) => asAdmin(url, (client) => client.query(sql))

async function complaints(): Promise<(string | null)[]> {
  return Promise.all(
    [url, ordinary].map(async (as) => {
      const database = openDatabase(as, COMMAND)
      try {
        const { advice, found } = await inspectStandbys(database)
        return advice === null ? null : found
      } finally {
        await database.close()
      }
    }),
  )
}

async function senders(count: number): Promise<void> {
  await eventually(async () => {
    const { rows } = await admin(
      `SELECT count(*)::int AS count FROM pg_stat_replication WHERE state = 'streaming'`,
    )
    return rows[0].count === count
  })
}

/** A program that receives the log: of the whole cluster, or decoded. */
async function receive(t: TestContext, replication: string, start: string): Promise<void> {
  const options = { connectionString: url, application_name: 'pg_receivewal', replication }
  const client = new pg.Client(options)
  client.on('error', () => {})
  await client.connect()
  client.query(start).catch(() => {})
  t.after(() => client.end())
}

test('programs that only receive the log are not standbys', async (t) => {
  await admin(`SELECT pg_create_logical_replication_slot('decoded', 'pgoutput')`)
  await admin('CREATE PUBLICATION listing FOR ALL TABLES')
  const { rows } = await admin('SELECT pg_current_wal_lsn() AS lsn')
  await receive(t, 'true', `START_REPLICATION PHYSICAL ${rows[0].lsn}`)
  const decoded = `(proto_version '1', publication_names 'listing')`
  await receive(t, 'database', `START_REPLICATION SLOT decoded LOGICAL 0/0 ${decoded}`)
  await senders(2)
  assert.deepEqual(await complaints(), [null, null])
})

test('an asynchronous standby is logged once at the start, for any role', async (t) => {
  const standby = await cluster.startStandby()
  t.after(standby.remove)
  await senders(1)
  await eventually(async () => (await complaints()).every((complaint) => complaint !== null))
  for (const complaint of await complaints()) assert.match(complaint ?? '', COMPLAINT)

  const program = programIn(t)
  const served = await program.serve({ env: { DATABASE_URL: url } })
  await served.written(/a standby follows/)
  served.kill('SIGTERM')
  const warnings = logLines((await served.ended).stdout).filter(({ level }) => level === 'warn')
  assert.equal(warnings.filter(({ msg }) => COMPLAINT.test(String(msg))).length, 1)

  await admin(`ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await admin('SELECT pg_reload_conf()')
  await eventually(async () => (await complaints()).every((complaint) => complaint === null))
  const quiet = await program.serve({ env: { DATABASE_URL: url } })
  await quiet.written(/dashboard at/)
  quiet.kill('SIGTERM')
  assert.doesNotMatch((await quiet.ended).stdout, /standby/)
})
