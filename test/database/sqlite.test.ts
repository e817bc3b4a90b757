import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/sqlite/database.ts'
import { managementConnection } from '../../src/sqlite/management-connection.ts'
import { migrateSqlite } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { connectionContract, type OpenDatabase } from './connection.ts'
import { givenRowsContract } from './given-rows.ts'
import { type OpenTwo, snapshotsContract } from './snapshots.ts'

async function create(t: TestContext): Promise<string> {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  return path
}

function connect(t: TestContext, path: string): Database {
  const connection = openDatabase(path, { synchronous: 'FULL', lockWaitMs: 0 })
  t.after(() => connection.close())
  return managementConnection(connection, { lockWaitMs: 0 })
}

const open: OpenDatabase = async (t) => connect(t, await create(t))
const openTwo: OpenTwo = async (t) => {
  const path = await create(t)
  return [connect(t, path), connect(t, path)]
}

connectionContract(open)
givenRowsContract(open)
snapshotsContract(openTwo)
