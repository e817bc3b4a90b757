import { after, before } from 'node:test'
import { openDatabase } from '../../src/postgres/database.ts'
import { managementConnection } from '../../src/postgres/management-connection.ts'
import { COMMAND } from '../../src/postgres/patience.ts'
import { migratePostgres } from '../../src/postgres/store.ts'
import { createDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { connectionContract, type OpenDatabase } from './connection.ts'
import { givenRowsContract } from './given-rows.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const open: OpenDatabase = async (t) => {
  const url = await createDatabase(server)
  await migratePostgres(url)
  const connections = openDatabase(url, COMMAND)
  t.after(connections.close)
  return managementConnection(connections)
}

connectionContract(open)
givenRowsContract(open)
