import assert from 'node:assert/strict'
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { parseInstant, presentInstant } from '../../../../src/listing/instant.ts'
import type { ServingStore } from '../../../../src/listing/store.ts'
import { backUpPostgres } from '../../../../src/postgres/backup/backup.ts'
import { prepareRestore } from '../../../../src/postgres/backup/restore.ts'
import { openServingPostgresStore } from '../../../../src/postgres/store.ts'
import { NotRestored } from '../../../../src/transfer/backup/backup.ts'
import { claim } from '../../../contract/keys/claim.ts'
import { eventually } from '../../../fixtures/eventually.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { asAdmin, createDatabase, removeDatabase } from '../../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../../fixtures/postgres/server.ts'
import { addOwner } from '../../../fixtures/service.ts'

/*
 * Backups and restores of a PostgreSQL database with Debian's pg_dump and pg_restore, which are of
 * the server's version.
 */

const SERVER = { name: 'Survival', address: 'play.example.com' }

let server: Server

before(async () => {
  const bin = process.env.POSTGRES_BIN
  assert.ok(bin !== undefined, 'POSTGRES_BIN must name a folder with pg_dump')
  process.env.PATH = `${bin}:${process.env.PATH}`
  server = await openServer()
})
after(() => server.remove())

async function serve<T>(url: string, body: (store: ServingStore) => Promise<T>): Promise<T> {
  const store = await openServingPostgresStore(url)
  try {
    await store.prepare()
    return await body(store)
  } finally {
    await store.close()
  }
}

async function restore(url: string, from: string) {
  const prepared = await prepareRestore(url, from)
  try {
    return await prepared.apply()
  } finally {
    await prepared.close()
  }
}

/** All databases of this name and those that restores derive from it. */
async function databasesOf(url: string): Promise<string[]> {
  const name = new URL(url).pathname.slice(1)
  const { rows } = await asAdmin(server.url(), (admin) =>
    admin.query('SELECT datname FROM pg_database WHERE starts_with(datname, $1) ORDER BY 1', [
      name,
    ]),
  )
  return rows.map(({ datname }) => datname.slice(name.length))
}

const targetIn = (t: TestContext): string => join(temporaryFolder(t), 'backup')

test('keys that were revoked after the dump stay revoked, and all else is as in the dump', async (t) => {
  const url = await createDatabase(server)
  const target = targetIn(t)
  const [madeAt, ...keys] = await serve(url, async (store) => {
    const [ada, bob, eve] = [
      await addOwner(store, 'ada@example.com', [SERVER]),
      await addOwner(store, 'bob@example.com', [SERVER]),
      await addOwner(store, 'eve@example.com', [SERVER]),
    ]
    assert.equal((await claim(store, eve.key)).outcome, 'granted')
    await store.keepSecret('setup', 'token')
    const manifest = await backUpPostgres(url, target, '1.2.3')
    const { users, servers, active_api_keys, last_use, program } = manifest
    assert.deepEqual([users, servers, active_api_keys, program], [3, 3, 3, '1.2.3'])
    assert.ok(last_use !== null && statSync(target).mode % 0o1000 === 0o600)
    assert.deepEqual(manifest, JSON.parse(readFileSync(`${target}.json`, 'utf8')))
    await store.revokeApiKey(ada.user.id, ada.keyId, presentInstant())
    await store.removeUser(bob.user.id)
    const entry = { user_id: null, action: 'user removed', subject: '', address: '' } as const
    await store.writeAudit({ ...entry, occurred_at: presentInstant() })
    return [parseInstant(manifest.made_at), ada.key, bob.key, eve.key] as const
  })
  const { backup, present, revoked, kept } = await restore(url, target)
  assert.deepEqual(
    [backup.users, backup.active_api_keys, present?.users, present?.active_api_keys, revoked],
    [3, 3, 2, 1, 2],
  )
  assert.ok(kept!.startsWith(new URL(url).pathname.slice(1)))
  assert.match(String(await databasesOf(url)), /^,_before_restore_\w+$/)
  await serve(url, async (store) => {
    // The lost stamps may be of the last second, so that it decides no claim.
    const asked = async () => (await claim(store, keys[2]).catch(() => null))?.outcome
    await eventually(async () => (await asked()) === 'granted')
    const outcomes = []
    for (const key of keys.slice(0, 2)) outcomes.push((await claim(store, key)).outcome)
    assert.deepEqual(outcomes, ['revoked', 'revoked'])
    assert.equal((await store.listUserRecords()).length, 3)
    assert.equal(await store.findSecret('setup'), null)
    assert.equal(await store.findLastBackup(), madeAt)
  })
})

test('a database that is in use stays, and what cannot be restored changes nothing', async (t) => {
  const url = await createDatabase(server)
  const target = targetIn(t)
  await serve(url, async (store) => {
    await addOwner(store, 'ada@example.com', [SERVER])
    await backUpPostgres(url, target, '1')
    await addOwner(store, 'bob@example.com', [SERVER])
    // The service closes a connection that is idle. This one stays.
    await asAdmin(url, () =>
      assert.rejects(restore(url, target), {
        name: 'NotRestored',
        message: /is in use; stop the service on every machine/,
      }),
    )
    assert.equal((await store.listUserRecords()).length, 2)
  })
  const whole = readFileSync(target)
  truncateSync(target, whole.length - 100)
  await assert.rejects(restore(url, target), /its SHA-256 differs/)
  writeFileSync(`${target}.json`, JSON.stringify({ sha256: null }))
  await assert.rejects(restore(url, target), /its SHA-256 differs/)
  writeFileSync(target, 'SQLite format 3')
  const { rmSync } = await import('node:fs')
  rmSync(`${target}.json`)
  await assert.rejects(restore(url, target), {
    name: 'NotRestored',
    message: /cannot restore .*: pg_restore failed: /,
  })
  writeFileSync(target, whole.subarray(0, whole.length - 2_000))
  await assert.rejects(restore(url, target), { name: 'NotRestored' })
  assert.deepEqual(await databasesOf(url), [''])
  await serve(url, async (store) => assert.equal((await store.listUserRecords()).length, 2))
})

test('a restore that can neither end nor go back says what the database is named now', async (t) => {
  const url = await createDatabase(server)
  const target = targetIn(t)
  await serve(url, async (store) => {
    const { user, keyId } = await addOwner(store, 'ada@example.com', [SERVER])
    await backUpPostgres(url, target, '1')
    await store.revokeApiKey(user.id, keyId, presentInstant())
  })
  const prepared = await prepareRestore(url, target)
  t.after(() => prepared.close())
  const [, restoring] = await databasesOf(url)
  const name = new URL(url).pathname.slice(1)
  const applied = await asAdmin(server.url(name + restoring), async (other) => {
    // Holds up the restore between its two renames.
    await other.query('BEGIN; LOCK TABLE api_keys')
    const result = prepared.apply().catch((error: unknown) => error)
    await eventually(async () => !(await databasesOf(url)).includes(''))
    await asAdmin(server.url(), (admin) => admin.query(`CREATE DATABASE ${name}`))
    return { result }
  })
  const error = await applied.result
  assert.ok(error instanceof NotRestored)
  const [, kept] = await databasesOf(url)
  assert.match(kept!, /^_before_restore_/)
  const renaming = `The database is now named ${name}${kept}; rename it to ${name}`
  assert.ok(error.message.endsWith(renaming), error.message)
  assert.ok(error.cause instanceof Error)
})

test('a restore whose database is dropped before it is replaced says so in a sentence', async (t) => {
  const url = await createDatabase(server)
  const target = targetIn(t)
  await serve(url, () => backUpPostgres(url, target, '1'))
  const prepared = await prepareRestore(url, target)
  t.after(() => prepared.close())
  await removeDatabase(server, url)
  await assert.rejects(prepared.apply(), {
    name: 'NotConfigured',
    message: /cannot use the database of DATABASE_URL: the server has no database of that name/,
  })
})

test('a backup without pg_dump, or of a database without the schema, says so', async (t) => {
  const url = await createDatabase(server)
  const target = targetIn(t)
  await assert.rejects(backUpPostgres(url, target, '1'), { name: 'NotConfigured' })
  await serve(url, async () => {})
  const { PATH } = process.env
  process.env.PATH = '/nowhere'
  try {
    await assert.rejects(backUpPostgres(url, target, '1'), {
      name: 'NotBackedUp',
      message: /there is no pg_dump on the PATH; install PostgreSQL's client/,
    })
  } finally {
    process.env.PATH = PATH
  }
})
