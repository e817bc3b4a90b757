import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { after, before, beforeEach, test } from 'node:test'
import pg from 'pg'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { uuidOf } from '../../fixtures/uuid-of.ts'
import { untilWaiting } from '../other-session.ts'

/*
 * Two transactions that are open at once keep the promises of the triggers, in each order of their
 * commits: a listed hash has no active key, a user has at most five, and keys are disabled as their
 * owner is.
 */

const [ADA, BOB] = [uuidOf(1), uuidOf(2)]
let server: Server
let url: string
let first: pg.Client
let second: pg.Client
before(async () => {
  server = await openServer()
  url = await createMigratedDatabase(server)
  ;[first, second] = [new pg.Client(url), new pg.Client(url)]
  await Promise.all([first.connect(), second.connect()])
})
beforeEach(async () => {
  await first.query('DELETE FROM users')
  await first.query(
    `INSERT INTO users (id, email, created_at) VALUES ('${ADA}', 'ada@example.com', now()), ('${BOB}', 'bob@example.com', now())`,
  )
})
after(async () => {
  await Promise.all([first.end(), second.end()])
  await server.remove()
})

const randomHash = () => `'\\x${createHash('sha256').update(randomUUID()).digest('hex')}'::bytea`
const insertion = (hash: string, { owner = ADA, revokedAt = 'NULL' } = {}) => `
  INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, revoked_at)
  VALUES (gen_random_uuid(), '${owner}', 'bot', '', ${hash}, now(), ${revokedAt})`
const union = (hash: string) =>
  `INSERT INTO revoked_hashes VALUES (${hash}, now()) ON CONFLICT DO NOTHING`
const revocation = (hash: string) =>
  `UPDATE api_keys SET revoked_at = now() WHERE key_hash = ${hash}`
const deletion = (hash: string) => `DELETE FROM api_keys WHERE key_hash = ${hash}`
const disabling = `UPDATE users SET disabled_at = now() WHERE id = '${ADA}'`

/**
 * Runs both statements in open transactions and commits the first one when the second one waits
 * for it, or has run beside it. Returns the second one's error.
 */
async function beside(one: string, another: string, { waits = true } = {}): Promise<string | null> {
  await first.query(`BEGIN; ${one}`)
  await second.query('BEGIN')
  const result = second.query(another).then(
    () => null,
    ({ message }: Error) => message,
  )
  if (waits) await untilWaiting(url, 1)
  else await result
  await first.query('COMMIT')
  const refusal = await result
  await second.query(refusal === null ? 'COMMIT' : 'ROLLBACK')
  return refusal
}

/** Whether the key is active, revoked or unknown, and whether its hash is listed. */
async function stateOf(hash: string): Promise<string> {
  const { rows } = await first.query(`
    SELECT
      CASE WHEN count(*) = 0 THEN 'unknown' WHEN bool_and(revoked_at IS NULL) THEN 'active' ELSE 'revoked' END
      || CASE WHEN EXISTS (SELECT FROM revoked_hashes WHERE key_hash = ${hash}) THEN ', listed' ELSE '' END AS state
    FROM api_keys WHERE key_hash = ${hash}`)
  return rows[0].state
}

async function statesOf(...hashes: string[]): Promise<string[]> {
  const states = []
  for (const hash of hashes) states.push(await stateOf(hash))
  return states
}

async function add(hash: string): Promise<string> {
  await first.query(insertion(hash))
  return hash
}

test('a key that is deleted and inserted at once is active: it was not revoked', async () => {
  const hash = await add(randomHash())
  assert.equal(await beside(deletion(hash), insertion(hash)), null)
  assert.equal(await stateOf(hash), 'active')
})

test('a key that is revoked, deleted and inserted at once is revoked', async () => {
  const hash = await add(randomHash())
  assert.equal(await beside(`${revocation(hash)}; ${deletion(hash)}`, insertion(hash)), null)
  assert.equal(await stateOf(hash), 'revoked, listed')
})

test('a hash that is listed while its key is inserted revokes the key, in both orders', async () => {
  const [one, another] = [randomHash(), randomHash()]
  assert.equal(await beside(union(one), insertion(one)), null)
  assert.equal(await stateOf(one), 'revoked, listed')
  assert.equal(await beside(insertion(another), union(another)), null)
  assert.equal(await stateOf(another), 'revoked, listed')
})

test('a hash that is listed while its key is revoked, deleted or inserted as revoked stays listed', async () => {
  for (const [act, state] of [
    [revocation, 'revoked, listed'],
    [deletion, 'unknown, listed'],
  ] as const) {
    const [one, another] = [await add(randomHash()), await add(randomHash())]
    assert.equal(await beside(act(one), union(one)), null)
    assert.equal(await beside(union(another), act(another)), null)
    assert.deepEqual([await stateOf(one), await stateOf(another)], [state, state])
  }
  const [one, another] = [randomHash(), randomHash()]
  const revoked = { revokedAt: 'now()' }
  assert.equal(await beside(union(one), insertion(one, revoked)), null)
  assert.equal(await beside(insertion(another, revoked), union(another)), null)
  for (const hash of [one, another]) assert.equal(await stateOf(hash), 'revoked, listed')
})

test('two unions of the same hashes both succeed', async () => {
  const [one, another] = [await add(randomHash()), randomHash()]
  const both = `INSERT INTO revoked_hashes VALUES (${one}, now()), (${another}, now())`
  assert.equal(await beside(both, both), null)
  assert.deepEqual(
    [await stateOf(one), await stateOf(another)],
    ['revoked, listed', 'unknown, listed'],
  )
})

test('a union that waits for a revocation which is rolled back lists and revokes', async () => {
  const hash = await add(randomHash())
  await first.query(`BEGIN; ${revocation(hash)}`)
  const united = second.query(union(hash))
  await untilWaiting(url, 1)
  await first.query('ROLLBACK')
  await united
  assert.equal(await stateOf(hash), 'revoked, listed')
})

test('a union that is rolled back revokes nothing', async () => {
  const hash = await add(randomHash())
  await first.query(`BEGIN; SAVEPOINT a; ${union(hash)}; ROLLBACK TO SAVEPOINT a; COMMIT`)
  assert.equal(await stateOf(hash), 'active')
})

test('two transactions give a user five active keys, and no sixth', async () => {
  for (let index = 0; index < 3; index += 1) await add(randomHash())
  assert.equal(await beside(insertion(randomHash()), insertion(randomHash())), null)
  await first.query(deletion('(SELECT key_hash FROM api_keys LIMIT 1)'))
  assert.match(
    String(await beside(insertion(randomHash()), insertion(randomHash()))),
    /5 active keys/,
  )
  // The trigger picks the places, and no other program.
  await first.query('UPDATE api_keys SET slot = NULL')
  const { rows } = await first.query('SELECT slot FROM api_keys ORDER BY slot')
  assert.deepEqual(
    rows,
    [1, 2, 3, 4, 5].map((slot) => ({ slot })),
  )
  const his = randomHash()
  await first.query(insertion(his, { owner: BOB }))
  await first.query(revocation('(SELECT key_hash FROM api_keys WHERE slot = 3 LIMIT 1)'))
  const move = `UPDATE api_keys SET user_id = '${ADA}' WHERE key_hash = ${his}`
  assert.match(String(await beside(insertion(randomHash()), move)), /5 active keys/)
})

test('a key inserted while its owner is disabled is disabled, in both orders', async () => {
  for (const revokedAt of ['NULL', 'now()']) {
    await first.query('UPDATE users SET disabled_at = NULL')
    const [one, another] = [randomHash(), randomHash()]
    assert.equal(await beside(insertion(one, { revokedAt }), disabling), null)
    await first.query('UPDATE users SET disabled_at = NULL')
    assert.equal(await beside(disabling, insertion(another, { revokedAt })), null)
    const { rows } = await first.query(
      'SELECT bool_and(disabled_at IS NOT NULL) AS all FROM api_keys',
    )
    assert.deepEqual(rows, [{ all: true }])
  }
})

test('a key that is revoked or moved while an owner is disabled is disabled as its owner is', async () => {
  const isDisabled = async (hash: string) =>
    (
      await first.query(
        `SELECT disabled_at IS NOT NULL AS is FROM api_keys WHERE key_hash = ${hash}`,
      )
    ).rows[0].is
  const [one, another] = [await add(randomHash()), await add(randomHash())]
  assert.equal(await beside(revocation(one), disabling), null)
  assert.equal(await isDisabled(one), true)
  await first.query('UPDATE users SET disabled_at = NULL')
  assert.equal(await beside(disabling, revocation(another)), null)
  assert.equal(await isDisabled(another), true)
  for (const revokedAt of ['NULL', 'now()']) {
    const his = randomHash()
    await first.query('UPDATE users SET disabled_at = NULL')
    await first.query(insertion(his, { owner: BOB, revokedAt }))
    const move = `UPDATE api_keys SET user_id = '${ADA}' WHERE key_hash = ${his}`
    assert.equal(await beside(disabling, move), null)
    assert.equal(await isDisabled(his), true, revokedAt)
  }
})

test("a user's email and last identity, or two last identities, do not go at once", async () => {
  const identity = (subject: string) =>
    `INSERT INTO identities VALUES ('issuer', '${subject}', '${ADA}')`
  const [email, one] = [
    'UPDATE users SET email = NULL',
    `DELETE FROM identities WHERE subject = 'one'`,
  ]
  const hers = `${email} WHERE id = '${ADA}'`
  await first.query(identity('one'))
  assert.match(String(await beside(hers, one)), /all that its user has/)
  await first.query(`UPDATE users SET email = 'ada@example.com' WHERE id = '${ADA}'`)
  assert.match(String(await beside(one, hers)), /needs an email/)
  await first.query(`${identity('one')}; ${identity('two')}; ${hers}`)
  assert.match(
    String(await beside(one, `DELETE FROM identities WHERE subject = 'two'`)),
    /all that its user has/,
  )
})

test('keys and listed hashes are inserted in READ COMMITTED transactions only', async () => {
  const hash = await add(randomHash())
  for (const level of ['REPEATABLE READ', 'SERIALIZABLE']) {
    await first.query(`BEGIN ISOLATION LEVEL ${level}`)
    await assert.rejects(first.query(insertion(randomHash())), {
      message: `a transaction that inserts keys must be READ COMMITTED, not ${level}`,
    })
    await first.query(`ROLLBACK; BEGIN ISOLATION LEVEL ${level}`)
    await assert.rejects(first.query(union(hash)), {
      message: `a transaction that inserts into revoked_hashes must be READ COMMITTED, not ${level}`,
    })
    await first.query('ROLLBACK')
    const revoked = await add(randomHash())
    await first.query(`BEGIN ISOLATION LEVEL ${level}; ${revocation(revoked)}; COMMIT`)
    assert.equal(await stateOf(revoked), 'revoked, listed')
  }
  assert.equal(await stateOf(hash), 'active')
})

test('a transaction with an old snapshot makes no revoked key active again', async () => {
  const hash = await add(randomHash())
  await second.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM api_keys')
  await first.query(union(hash))
  await assert.rejects(second.query('UPDATE api_keys SET revoked_at = NULL'), /could not serialize/)
  await second.query('ROLLBACK')
  assert.equal(await stateOf(hash), 'revoked, listed')
})

test('the list is not truncated', async () => {
  for (const sql of ['TRUNCATE revoked_hashes', 'TRUNCATE users, api_keys, revoked_hashes CASCADE'])
    await assert.rejects(first.query(sql), /revoked_hashes only grows/)
})

test('a reload of all tables succeeds whether the list comes before the keys or after them', async (t) => {
  const [active, revoked, gone] = [await add(randomHash()), await add(randomHash()), randomHash()]
  await first.query(`${revocation(revoked)}; ${insertion(gone)}; ${union(gone)}; ${deletion(gone)}
    ; INSERT INTO identities VALUES ('issuer', 'ada', '${ADA}'); UPDATE users SET email = NULL WHERE id = '${ADA}'
    ; ${disabling}`)
  const folder = temporaryFolder(t)
  // The server may run as another user.
  chmodSync(folder, 0o777)
  const tables = ['identities', 'users', 'api_keys', 'revoked_hashes']
  for (const table of tables) await first.query(`COPY ${table} TO '${folder}/${table}'`)
  const contents = `SELECT array_agg(t::text ORDER BY t::text) FROM`
  for (const order of [tables, tables.toSpliced(2, 2, 'revoked_hashes', 'api_keys')]) {
    const other = await createMigratedDatabase(server)
    await asAdmin(other, async (client) => {
      const copies = order.map((table) => `COPY ${table} FROM '${folder}/${table}';`)
      await client.query(`BEGIN; ${copies.join(' ')} COMMIT`)
      for (const table of tables) {
        const query = `${contents} ${table} AS t`
        assert.deepEqual((await client.query(query)).rows, (await first.query(query)).rows, table)
      }
    })
  }
  assert.deepEqual(await statesOf(active, revoked, gone), [
    'active',
    'revoked, listed',
    'unknown, listed',
  ])
})
