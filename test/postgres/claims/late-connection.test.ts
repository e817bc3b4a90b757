import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openDatabase } from '../../../src/postgres/database.ts'
import { createKnownKeys } from '../../../src/postgres/claims/known-keys.ts'
import { createClaimConnection } from '../../../src/postgres/claims/claim-connection.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { startTcpProxy } from '../../fixtures/proxy/tcp-proxy.ts'
import { callWith } from './open-batches.ts'

let server: Server
let url: string
before(async () => {
  server = await openServer()
  url = await createDatabase(server)
})
after(() => server.remove())

const PATIENT = { statementMs: 30_000, lockMs: 30_000, queryMs: 30_000, connectMs: 10_000 }
/** In each direction. Setting up a connection takes two round trips, longer than a batch has. */
const LATE_MS = 450

test('close ends a connection that is made after its batch was given up', {
  timeout: 20_000,
}, async (t) => {
  const proxy = await startTcpProxy(server.port)
  t.after(proxy.close)
  proxy.slowDown(LATE_MS)
  const database = openDatabase(url.replace(/:\d+\//, `:${proxy.port}/`), PATIENT)
  const connection = createClaimConnection(database, createKnownKeys(), async () => {})
  const call = callWith('svc_live_0')
  await assert.rejects(connection.claimBatch([call]), /had no answer for 1500 ms/)
  connection.close()
  await database.close()
  await eventually(async () => (await countConnections()) === 0)
})

function countConnections(): Promise<number> {
  return asAdmin(url, async (client) => {
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity
       WHERE application_name = 'server-listing' AND datname = current_database()`,
    )
    return rowCount ?? 0
  })
}
