import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/postgres/database.ts'
import { readStored, usersMeant } from '../../src/acts/records/stored.ts'
import { sql } from '../../src/database/sql.ts'
import { declare } from '../contract/acts/declared.ts'
import { managementConnection } from '../../src/postgres/management-connection.ts'
import { COMMAND } from '../../src/postgres/patience.ts'
import { migratePostgres } from '../../src/postgres/store.ts'
import { createDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { connectionContract, type OpenDatabase } from './connection.ts'
import { givenRowsContract } from './given-rows.ts'
import { type OpenTwo, snapshotsContract } from './snapshots.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

async function create(): Promise<string> {
  const url = await createDatabase(server)
  await migratePostgres(url)
  return url
}

function connect(t: TestContext, url: string): Database {
  const connections = openDatabase(url, COMMAND)
  t.after(connections.close)
  return managementConnection(connections)
}

const open: OpenDatabase = async (t) => connect(t, await create())
const openTwo: OpenTwo = async (t) => {
  const url = await create()
  return [connect(t, url), connect(t, url)]
}

connectionContract(open)
givenRowsContract(open)
snapshotsContract(openTwo)

test('PostgreSQL finds 100 users of a file without reading all users', async (t) => {
  const database = await open(t)
  await database.run(sql`INSERT INTO users (id, external_id, email, created_at)
    SELECT gen_random_uuid(), number::text, number || '@example.com', now()
    FROM generate_series(1, 100000) AS number`)
  await database.run(sql`ANALYZE users`)
  const state = declare({
    users: Array.from({ length: 100 }, (_, user) => ({
      external_id: `${user + 1}`,
      email: `${user + 1}@example.com`,
    })),
  })
  await database.snapshot(async (queries) => {
    const isMeant = await usersMeant(queries, state, 'operator')
    const { users } = await readStored(
      queries,
      database.dialect,
      state,
      { hand: 'operator', now: 0 },
      isMeant,
    )
    assert.equal(users.length, 100)
    const read = sql`SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'users'`
    assert.deepEqual(await queries.get(read), { seq_scan: 0 })
  })
})
