import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addUser, issueKey } from '../../fixtures/service.ts'
import { DOWN, trapSqlite } from '../../reliability/fault-injection/sqlite-driver.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

test('a change after a failed one that could not be rolled back is committed', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path)
  t.after(() => store.close())
  const user = await addUser(store)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  const find = other.prepare('SELECT 1 FROM users WHERE email = ?')
  const trap = trapSqlite()
  let disturbed = 0
  for (let isReached = true; isReached; disturbed += 1) {
    trap.set(disturbed + 1, DOWN)
    const issued = await issueKey(store, user, 'bot').then(
      () => true,
      () => false,
    )
    isReached = trap.lift()
    assert.equal(issued, !isReached)
    // A single statement: if the failed transaction were still open, it would become part of it.
    const email = `${randomUUID()}@example.com`
    assert.equal(
      await recordsOf(store).insertUser(createUser(email), operatorAt(presentInstant())),
      true,
    )
    assert.notEqual(find.get(email), undefined, `after call ${disturbed + 1}`)
  }
  assert.ok(disturbed > 4, `${disturbed} calls`)
})
