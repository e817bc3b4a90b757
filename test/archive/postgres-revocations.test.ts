import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { openArchive } from '../../src/archive/open.ts'
import { backUpPostgres } from '../../src/archive/postgres-backup.ts'
import { preparePostgresRestore } from '../../src/archive/postgres-restore.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import {
  activeKeys,
  databaseFor,
  fill,
  hashOf,
  idOf,
  issueKeys,
  query,
  restore,
  revokeKey,
} from './postgres-rows.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'

/*
 * `fill` gives Ada the active key 31, and Bob, who is disabled, the key 33. Key 32 is revoked.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

async function filled(t: TestContext): Promise<{ url: string; archive: (name: string) => string }> {
  const url = await databaseFor(t, server)
  await fill(url)
  const folder = temporaryFolder(t)
  return { url, archive: (name) => join(folder, name) }
}

test('a key that was revoked stays revoked after two restores of older archives', async (t) => {
  const { url, archive } = await filled(t)
  await backUpPostgres(url, archive('first'))
  await query(url, issueKeys(1, 60, 62))
  await backUpPostgres(url, archive('second'))
  // As `user remove` does, one key is revoked and then deleted.
  await query(url, `${revokeKey(60)} ${revokeKey(61)} DELETE FROM api_keys WHERE name = 'key 61'`)
  assert.equal((await restore(url, archive('first'))).revoked, 0)
  assert.deepEqual(await activeKeys(url), [31])
  const { revoked } = await restore(url, archive('second'))
  assert.deepEqual([revoked, await activeKeys(url)], [2, [31, 62]])
})

test('the correction of a wrong restore revokes no key', async (t) => {
  const { url, archive } = await filled(t)
  await backUpPostgres(url, archive('wrong'))
  await query(
    url,
    `INSERT INTO users VALUES ('${idOf(5)}', 'new@example.com', NULL, now());
     ${issueKeys(5, 60)} ${issueKeys(1, 61)}`,
  )
  await backUpPostgres(url, archive('right'))
  const { kept } = await restore(url, archive('wrong'))
  assert.deepEqual(await activeKeys(url), [31])
  // Events between the two restores change nothing.
  await query(
    url,
    `${issueKeys(1, 70)}
     INSERT INTO audit_log VALUES (gen_random_uuid(), now(), NULL, 'signed in', '', '')`,
  )
  assert.equal((await restore(url, archive('right'))).revoked, 0)
  assert.deepEqual(await activeKeys(url), [31, 60, 61])
  assert.equal((await restore(url, kept!)).revoked, 0)
  assert.deepEqual(await activeKeys(url), [31, 60, 61])
})

test('a deleted key comes back, because a deleted row is no revocation', async (t) => {
  const { url, archive } = await filled(t)
  await backUpPostgres(url, archive('before'))
  await query(url, 'DELETE FROM api_keys; DELETE FROM users')
  await restore(url, archive('before'))
  assert.deepEqual(await activeKeys(url), [31])
})

test('hashes of a list that comes with the restore are united, and the plan counts their keys', async (t) => {
  const { url, archive } = await filled(t)
  await query(url, issueKeys(1, 60, 62))
  await backUpPostgres(url, archive('before'))
  await query(url, revokeKey(60))
  // A journal lists a key of the archive twice, and one of no row.
  const list = new Map([60, 61, 80].map((number) => [hashOf(number), 1_700_000_000_000_001]))
  const opened = await openArchive(archive('before'))
  t.after(() => opened.close())
  const prepared = await preparePostgresRestore(url, { ...opened, revocations: list })
  t.after(() => prepared.close())
  assert.equal(prepared.plan.revoked, 2)
  assert.deepEqual(prepared.plan.present, { users: 3, servers: 2, api_keys: 6, active_api_keys: 4 })
  assert.deepEqual(await activeKeys(url), [31, 61, 62])
  assert.equal((await prepared.apply(operatorAt(presentInstant()))).revoked, 2)
  assert.deepEqual(await activeKeys(url), [31, 62])
  const listed = await query<{ hash: string; at: string }>(
    url,
    `SELECT right(encode(key_hash, 'hex'), 2) AS hash, (extract(epoch FROM revoked_at) * 1000000)::bigint::text AS at
     FROM revoked_hashes ORDER BY 1`,
  )
  assert.deepEqual(
    listed.map(({ hash }) => hash),
    ['32', '60', '61', '80', '99'],
  )
  assert.equal(listed.at(-2)!.at, '1700000000000001')
  // The triggers are enabled again.
  await query(url, issueKeys(1, 80))
  assert.deepEqual(await activeKeys(url), [31, 62])
  assert.equal((await query(url, 'SELECT FROM api_keys WHERE slot IS NOT NULL')).length, 3)
})

for (const fact of ['disabled_at', 'banned_at'])
  test(`a user with ${fact} keeps it, and one without becomes what the archive says`, async (t) => {
    const { url, archive } = await filled(t)
    await query(url, `UPDATE users SET ${fact} = disabled_at`)
    if (fact === 'banned_at') await query(url, 'UPDATE users SET disabled_at = NULL')
    await backUpPostgres(url, archive('before'))
    await query(
      url,
      `UPDATE users SET ${fact} = '2026-07-01Z' WHERE email = 'ada@example.com';
     UPDATE users SET ${fact} = NULL WHERE email = 'bob@example.com'`,
    )
    assert.deepEqual(await activeKeys(url), [33])
    await restore(url, archive('before'))
    assert.deepEqual(await activeKeys(url), [])
    await query(url, `UPDATE users SET ${fact} = NULL`)
    assert.deepEqual(await activeKeys(url), [31, 33])
  })

test('each key keeps the later one of its two last uses', async (t) => {
  const { url, archive } = await filled(t)
  await query(url, `UPDATE api_keys SET last_used_at = '2026-08-01Z' WHERE name = 'two'`)
  await backUpPostgres(url, archive('before'))
  await query(
    url,
    `UPDATE api_keys SET last_used_at = '2026-07-01Z' WHERE name = 'two';
     UPDATE api_keys SET last_used_at = '2026-09-01Z' WHERE name = 'off'`,
  )
  await restore(url, archive('before'))
  assert.deepEqual(
    await query(
      url,
      `SELECT name, to_char(last_used_at AT TIME ZONE 'UTC', 'MM-DD') AS used FROM api_keys ORDER BY 1`,
    ),
    [
      { name: 'off', used: '09-01' },
      { name: 'one', used: '04-01' },
      { name: 'two', used: '08-01' },
    ],
  )
})
