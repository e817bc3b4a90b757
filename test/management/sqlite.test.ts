import { join } from 'node:path'
import { openDatabase } from '../../src/sqlite/database.ts'
import { managementConnection } from '../../src/sqlite/management-connection.ts'
import { migrateSqlite } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { connectionContract, type OpenDatabase } from './connection.ts'
import { givenRowsContract } from './given-rows.ts'

const open: OpenDatabase = async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const connection = openDatabase(path, { synchronous: 'FULL', lockWaitMs: 0 })
  t.after(() => connection.close())
  return managementConnection(connection, { lockWaitMs: 0 })
}

connectionContract(open)
givenRowsContract(open)
