import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { backUpPostgres } from '../../src/archive/postgres-backup.ts'
import { hashApiKey } from '../../src/model/key-hash.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { addOwner, issueKey } from '../fixtures/service.ts'
import { openStore, outcomeOf } from '../postgres/claims/outcomes.ts'
import { untilWaiting } from '../postgres/other-session.ts'
import {
  databaseFor,
  fill,
  idOf,
  issueKeys,
  query,
  restore,
  rowsOfFile,
  rowsOfPostgres,
} from './postgres-rows.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const SERVER = { name: 'Survival', address: 'play.example.com' }

test('beside two services, a restore gives no key two seconds in one, and no revoked key any', async (t) => {
  const url = await databaseFor(t, server)
  const [store, other] = [await openStore(t, url), await openStore(t, url)]
  const { key, user } = await addOwner(store, 'ada@example.com', [SERVER])
  const { key: revoked } = await issueKey(store, user, 'leaked')
  const path = join(temporaryFolder(t), 'archive')
  await backUpPostgres(url, path)
  await recordsOf(store).revokeApiKeysByHash([hashApiKey(revoked)], operatorAt(Date.now() * 1_000))
  await query(url, `UPDATE servers SET name = 'changed'`)

  const granted: { from: number; to: number }[] = []
  let isRestored = false
  let grantedAfter = 0
  const client = async (on: typeof store) => {
    while (grantedAfter < 2) {
      const wasRestored = isRestored
      const from = performance.now()
      if ((await outcomeOf(on, key)) === 'granted') {
        granted.push({ from, to: performance.now() })
        if (wasRestored) grantedAfter += 1
      }
      assert.equal(await outcomeOf(on, revoked), 'revoked')
      await delay(5)
    }
  }
  const restoring = async () => {
    // Directly after a granted claim, which the archive does not know.
    while (granted.length === 0) await delay(1)
    await restore(url, path)
    isRestored = true
  }
  await Promise.all([client(store), client(other), restoring()])

  const inOrder = granted.toSorted((one, next) => one.to - next.to)
  for (const [index, { to }] of inOrder.entries())
    if (index > 0) assert.ok(to - inOrder[index - 1]!.from >= 1_000, 'two grants within a second')
  assert.deepEqual(await query(url, 'SELECT name FROM servers'), [{ name: 'Survival' }])
})

test('an archive has one state of all tables, whatever is written between two of them', async (t) => {
  const url = await databaseFor(t, server)
  await fill(url)
  const path = join(temporaryFolder(t), 'archive')
  const before = await rowsOfPostgres(url)
  await asAdmin(url, async (writer) => {
    // The backup has read users when it waits for this lock.
    await writer.query('BEGIN; LOCK TABLE organizations')
    const backedUp = backUpPostgres(url, path)
    await untilWaiting(url, 1)
    await writer.query(
      `INSERT INTO users (id, email) VALUES ('${idOf(5)}', 'late@example.com');
       INSERT INTO organizations VALUES ('${idOf(15)}', 'late', 'Late');
       INSERT INTO members VALUES ('${idOf(15)}', '${idOf(5)}', 'owner', now()); ${issueKeys(5, 60)}
       COMMIT`,
    )
    await backedUp
  })
  assert.deepEqual(rowsOfFile(path), before)
})

test('while a restore holds its lock, others read the old rows, and claims get honest answers', async (t) => {
  const url = await databaseFor(t, server)
  const store = await openStore(t, url)
  const { key, user } = await addOwner(store, 'ada@example.com', [SERVER])
  const { key: revoked } = await issueKey(store, user, 'leaked')
  const path = join(temporaryFolder(t), 'archive')
  await backUpPostgres(url, path)
  await query(url, `UPDATE servers SET name = 'changed'`)
  await recordsOf(store).revokeApiKeysByHash([hashApiKey(revoked)], operatorAt(Date.now() * 1_000))

  await asAdmin(url, async (holder) => {
    // All rows are merged and compared when the restore waits for this lock.
    await holder.query('BEGIN; LOCK TABLE listing_revisions IN SHARE MODE')
    const restored = restore(url, path)
    await untilWaiting(url, 1)
    assert.equal(await outcomeOf(store, key), 'ListFault')
    assert.equal(await outcomeOf(store, revoked), 'revoked')
    assert.equal(await outcomeOf(store, `svc_live_${'0'.repeat(64)}`), 'unknown')
    assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 2)
    const names = await query<{ name: string }>(url, 'SELECT name FROM servers')
    assert.deepEqual(names, [{ name: 'changed' }])
    await holder.query('COMMIT')
    await restored
  })
  assert.deepEqual(await query(url, 'SELECT name FROM servers'), [{ name: 'Survival' }])
})
