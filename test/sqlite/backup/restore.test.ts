import assert from 'node:assert/strict'
import { cpSync, readFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { presentInstant } from '../../../src/listing/instant.ts'
import { readJournals } from '../../../src/sqlite/backup/journal.ts'
import { claim } from '../../contract/keys/claim.ts'
import { addOwner, issueKey } from '../../fixtures/service.ts'
import { files, rowsOf } from './files.ts'

const SERVER = { name: 'Survival', address: 'play.example.com' }

test('keys that were revoked after the backup stay revoked, and all else is as in the backup', async (t) => {
  const { path, target, faults, serve, backUp, restore } = files(t)
  const keys = await serve(async (store) => {
    const [ada, bob, eve] = [
      await addOwner(store, 'ada@example.com', [SERVER]),
      await addOwner(store, 'bob@example.com', [SERVER]),
      await addOwner(store, 'eve@example.com', [SERVER]),
    ]
    await store.setPassword(eve.user.id, 'hash', presentInstant())
    const times = { startedAt: presentInstant(), expiresAt: 2 * presentInstant() }
    const session = { userId: eve.user.id, tokenHash: 't', userAgent: '', address: '', ...times }
    await store.beginSession(session, 'hash', null)
    await store.keepSecret('setup', 'token')
    await backUp()
    await store.revokeApiKey(ada.user.id, ada.keyId, presentInstant())
    await store.removeUser(bob.user.id)
    await store.saveServers(eve.user.id, null, [{ name: 'New', address: 'n.example.com' }], 1)
    return [ada.key, bob.key, eve.key]
  })
  const replaced = rowsOf(path)
  const { plan, kept } = await restore().then(({ kept, ...plan }) => ({ plan, kept }))
  assert.deepEqual(rowsOf(kept!), replaced)
  assert.deepEqual(
    [plan.backup.users, plan.backup.active_api_keys, plan.present?.users, plan.revoked],
    [3, 3, 2, 2],
  )
  await serve(async (store) => {
    const outcomes = []
    for (const key of keys) outcomes.push((await claim(store, key)).outcome)
    assert.deepEqual(outcomes, ['revoked', 'revoked', 'granted'])
    assert.equal((await store.listUserRecords()).length, 3)
    assert.equal(await store.findSession(['t'], 0), null)
    assert.equal(await store.findSecret('setup'), null)
  })
  assert.deepEqual(rowsOf(path).servers, rowsOf(target).servers)
  assert.deepEqual(faults, [])
})

test('a revoked key stays revoked if an older file is put in place by hand', async (t) => {
  const { path, faults, serve } = files(t)
  const { key, keyId, user } = await serve((store) => addOwner(store, 'ada@example.com'))
  cpSync(path, `${path}.old`)
  await serve((store) => store.revokeApiKey(user.id, keyId, presentInstant()))
  cpSync(`${path}.old`, path)
  // A crash has cut the journal's last line off.
  const journal = `${path}-revoked`
  writeFileSync(journal, `${readFileSync(journal, 'utf8')}\n2026-11-23T03:0`)
  await serve(async (store) => {
    assert.equal((await claim(store, key)).outcome, 'revoked')
    const other = await issueKey(store, user)
    await store.revokeApiKey(user.id, other.id, presentInstant())
  })
  assert.match(
    String(faults[0]),
    /^RevivedKeys: 1 active key was revoked again, because .*-revoked/,
  )
  assert.equal(faults.length, 1)
  assert.equal(readFileSync(journal, 'utf8').match(/^\S+ key [0-9a-f]{64}$/gm)?.length, 2)
})

test('a revocation that the database refuses is withdrawn, also for the next start', async (t) => {
  const { path, faults, serve } = files(t)
  const { key, other } = await serve(async (store) => {
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    const other = await issueKey(store, user, 'other')
    // The journal keeps this revocation, which succeeds.
    await store.revokeApiKey(user.id, other.id, presentInstant())
    const writer = new DatabaseSync(path)
    writer.exec('BEGIN IMMEDIATE')
    const refused = [
      store.revokeApiKey(user.id, keyId, presentInstant()),
      store.removeUser(user.id),
    ]
    await Promise.all(refused.map((one) => assert.rejects(one, /database is locked/)))
    writer.close()
    return { key, other: other.key }
  })
  await serve(async (store) => {
    assert.equal((await claim(store, key)).outcome, 'granted')
    assert.equal((await claim(store, other)).outcome, 'revoked')
  })
  assert.deepEqual(faults, [])
  assert.equal(readJournals([`${path}-revoked`]).keys.size, 1)
})

test('keys that are newer than the replaced file work after a newer backup is restored', async (t) => {
  const { path, target, serve, backUp, restore } = files(t)
  const { user, key: old } = await serve((store) => addOwner(store, 'ada@example.com'))
  cpSync(path, `${path}.old`)
  const fresh = await serve(async (store) => {
    const { key } = await issueKey(store, user)
    await backUp()
    return key
  })
  cpSync(`${path}.old`, path)
  assert.equal((await restore()).revoked, 0)
  await serve(async (store) => {
    assert.equal((await claim(store, old)).outcome, 'granted')
    assert.equal((await claim(store, fresh)).outcome, 'granted')
  })
  assert.ok(readFileSync(target).length > 0)
})

test('a damaged database is moved away, and its journal still counts', async (t) => {
  const { folder, path, serve, backUp, restore } = files(t)
  const { key } = await serve(async (store) => {
    const owner = await addOwner(store, 'ada@example.com')
    await backUp()
    await store.revokeApiKey(owner.user.id, owner.keyId, presentInstant())
    return owner
  })
  writeFileSync(path, 'no database at all')
  const { present, revoked, kept } = await restore()
  assert.deepEqual([present, revoked, readFileSync(kept!, 'utf8')], [null, 1, 'no database at all'])
  await serve(async (store) => assert.equal((await claim(store, key)).outcome, 'revoked'))

  // Another machine, to which only the backup and a copy of the journal were carried.
  const elsewhere = join(folder, 'elsewhere')
  cpSync(join(folder, 'backup'), join(elsewhere, 'backup'))
  cpSync(join(folder, 'backup.json'), join(elsewhere, 'backup.json'))
  const { prepareRestore } = await import('../../../src/sqlite/backup/restore.ts')
  const prepared = await prepareRestore(join(elsewhere, 'new.db'), join(elsewhere, 'backup'), [
    `${path}-revoked`,
  ])
  assert.deepEqual([prepared.plan.present, prepared.plan.revoked], [null, 1])
  await prepared.close()
  assert.deepEqual(
    readdirSync(elsewhere).filter((name) => name === 'new.db'),
    [],
  )
})

test('what cannot be restored changes nothing, and the message says why', async (t) => {
  const { folder, path, target, serve, backUp, content, restore } = files(t)
  const refused = async (sentence: RegExp, journals?: string[]) => {
    const before = content()
    await assert.rejects(restore(journals), sentence)
    assert.deepEqual(content(), before)
  }
  await serve(async (store) => {
    await addOwner(store, 'ada@example.com', [SERVER])
    await backUp()
    await assert.rejects(restore(), /AlreadyServed.* is being served by process \d+/)
  })
  const whole = readFileSync(target)
  await refused(/there is no journal of revocations .*none/, [join(folder, 'none')])
  truncateSync(target, 9_000)
  await refused(/is not the file that .*backup\.json describes: its SHA-256 differs/)
  writeFileSync(`${target}.json`, 'x')
  await refused(/cannot read the manifest .*backup\.json/)
  writeFileSync(`${target}.json`, JSON.stringify({ sha256: '' }))
  await refused(/its SHA-256 differs/)
  const { rmSync } = await import('node:fs')
  rmSync(`${target}.json`)
  await refused(/cannot restore .*backup: .*(damaged|malformed)/)
  writeFileSync(target, 'PGDMP and so on')
  await refused(/cannot restore .*backup: .*it is not an SQLite database/)
  rmSync(target)
  const foreign = new DatabaseSync(target)
  foreign.exec('CREATE TABLE notes (text)')
  foreign.close()
  await refused(/it is no backup of this service/)
  writeFileSync(target, whole)
  const newer = new DatabaseSync(target)
  newer.exec(`INSERT INTO schema_migrations VALUES (9999, 'later', 9999, 0)`)
  newer.close()
  await refused(/needs a newer server-listing/)
  rmSync(target)
  await refused(/there is no such file/)
  assert.equal(rowsOf(path).users!.length, 1)
})
