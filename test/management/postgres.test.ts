import { after, before, type TestContext } from 'node:test'
import type { Database } from '../../src/management/database.ts'
import { openDatabase } from '../../src/postgres/database.ts'
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
