import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { addUser, issueKey } from '../../fixtures/service.ts'
import { uuidOf } from '../../fixtures/uuid-of.ts'
import type { OpenFixture, StoreFixture } from '../fixture.ts'
import { openForeign } from '../keys/foreign-program.ts'
import { OPERATOR } from '../people.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** What the schema demands of a user and does with a disabled one, whichever program writes. */
export function userRowsContract(open: OpenFixture): void {
  for (const fact of ['disabled_at', 'banned_at']) factContract(open, fact)

  test('a user has access while neither the operator nor the site has ended it', async (t) => {
    const { key, later, execute, disabled, outcome } = await openForeign(open, t)
    const sequence: [change: string, hasAccess: boolean][] = [
      [`disabled_at = ${later}`, false],
      // The site touches the user, bans and unbans.
      ['banned_at = NULL', false],
      [`banned_at = ${later}`, false],
      ['banned_at = NULL', false],
      [`banned_at = ${later}`, false],
      ['disabled_at = NULL', false],
      // An operator disables and enables a banned user.
      [`disabled_at = ${later}`, false],
      ['disabled_at = NULL', false],
      ['banned_at = NULL', true],
      [`disabled_at = ${later}, banned_at = ${later}`, false],
      ['disabled_at = NULL, banned_at = NULL', true],
    ]
    for (const [change, hasAccess] of sequence) {
      await execute(`UPDATE users SET ${change}`)
      assert.deepEqual(await disabled(key), [!hasAccess], change)
      assert.equal((await outcome(key)) === 'revoked', !hasAccess, change)
    }
  })

  test('a user has an email, an external_id or an identity', async (t) => {
    const { execute, read } = await open(t)
    const needs = /needs an email, an external_id/
    await assert.rejects(execute(insertion({ id: 1 })), needs)
    await execute(insertion({ id: 2, email: "'ada@example.com'" }))
    await execute(insertion({ id: 3, externalId: "'player 3'" }))
    const bare = insertion({ id: 4 })
    await execute(`BEGIN; ${identity(4)} ${bare}; COMMIT`)
    await assert.rejects(whole({ execute }, `${insertion({ id: 5 })}; ${identity(5)}`), needs)
    // An identity without its user.
    await assert.rejects(whole({ execute }, identity(6)))
    for (const change of ['email = NULL', 'external_id = NULL'])
      await assert.rejects(execute(`UPDATE users SET ${change}`), needs)
    await assert.rejects(execute('DELETE FROM identities'), /all that its user has/)
    assert.equal((await read('SELECT id FROM users')).length, 3)
    await execute(`UPDATE users SET external_id = 'four' WHERE id = '${uuidOf(4)}'`)
    await execute('DELETE FROM identities')
  })

  test("deleting a user deletes the user's identities, and a user keeps the id", async (t) => {
    const { execute, read } = await open(t)
    await execute(`BEGIN;
      INSERT INTO identities VALUES ('issuer', 'ada', '${uuidOf(1)}');
      ${insertion({ id: 1 })}; COMMIT`)
    await execute(insertion({ id: 2, email: "'bob@example.com'" }))
    await assert.rejects(execute(`UPDATE users SET id = '${uuidOf(3)}'`), /a user keeps the id/)
    await assert.rejects(
      execute(`UPDATE identities SET user_id = '${uuidOf(2)}'`),
      /an identity keeps its user/,
    )
    await execute(`DELETE FROM users WHERE id = '${uuidOf(1)}'`)
    assert.deepEqual(await read('SELECT subject FROM identities'), [])
  })

  test('an email address has lower-case ASCII characters only', async (t) => {
    const { execute, read } = await open(t)
    const wrong = [
      '',
      'Ada@example.com',
      'ada@EXAMPLE.com',
      'äda@example.com',
      'ada\u0308@example.com',
      'a b@c',
      'a\n',
      'a\t',
      'a\u007f',
    ]
    for (const email of wrong)
      await assert.rejects(
        execute(insertion({ id: 1, email: `'${email}'` })),
        JSON.stringify(email),
      )
    const ascii = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('')
    const right = ascii.replaceAll(/[A-Z]/g, '')
    await execute(insertion({ id: 1, email: `'${right.replace("'", "''")}'` }))
    for (const change of ["'A'", "email || 'É'"])
      await assert.rejects(execute(`UPDATE users SET email = ${change}`))
    assert.deepEqual(await read('SELECT email FROM users'), [{ email: right }])
  })

  test('an external_id has 1 to 255 characters, and one user', async (t) => {
    const { execute } = await open(t)
    const set = (id: number, value: string) => execute(insertion({ id, externalId: `'${value}'` }))
    for (const value of ['', 'ä'.repeat(256)]) await assert.rejects(set(1, value))
    await set(1, 'ä'.repeat(255))
    await set(2, 'Ä')
    await set(3, 'ä')
    await assert.rejects(set(4, 'ä'), /unique/i)
  })
}

/** An operator's fact or the site's ends all access of a user. */
function factContract(open: OpenFixture, fact: string): void {
  test(`${fact} disables the keys of a user, and without it the same ones are back`, async (t) => {
    const { key, user, store, later, execute, insert, disabled, outcome } = await openForeign(
      open,
      t,
    )
    const [added, revoked] = [generateKey(), generateKey()]
    await insert(revoked, { revokedAt: later })
    await execute(`UPDATE users SET ${fact} = ${later}`)
    await insert(added)
    assert.deepEqual(await disabled(key, added, revoked), [true, true, true])
    for (const one of [key, added, revoked]) assert.equal(await outcome(one), 'revoked')
    await execute(`UPDATE users SET ${fact} = NULL`)
    assert.deepEqual(await disabled(key, added, revoked), [false, false, false])
    assert.equal(await outcome(key), 'granted')
    assert.equal(await outcome(added), 'granted')
    assert.equal(await outcome(revoked), 'revoked')
    assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 3)
  })

  test(`with ${fact} of the owner a key is disabled, also when the owner changes`, async (t) => {
    const { store, key, user, later, execute, disabled } = await openForeign(open, t)
    const bob = await addUser(store, 'bob@example.com')
    const his = await issueKey(store, bob)
    await execute(`UPDATE api_keys SET disabled_at = ${later}`)
    assert.deepEqual(await disabled(key, his.key), [false, false])
    await execute(`UPDATE users SET ${fact} = ${later} WHERE id = '${bob.id}'`)
    await execute('UPDATE api_keys SET disabled_at = NULL')
    assert.deepEqual(await disabled(key, his.key), [false, true])
    await execute(`UPDATE api_keys SET user_id = '${bob.id}'`)
    assert.deepEqual(await disabled(key, his.key), [true, true])
    await execute(`UPDATE api_keys SET user_id = '${user.id}'`)
    assert.deepEqual(await disabled(key, his.key), [false, false])
  })

  test(`${fact} ends the user's sessions and sign-in link, and no other user's`, async (t) => {
    const { store, user, later, execute, read } = await openForeign(open, t)
    const bob = await addUser(store, 'bob@example.com')
    for (const { id } of [user, bob]) {
      await recordsOf(store).setPassword(id, 'hash', OPERATOR)
      const times = { startedAt: NOW, expiresAt: NOW + 1 }
      const session = { userId: id, tokenHash: id, userAgent: '', address: '', ...times }
      assert.equal(await recordsOf(store).beginSession(session, 'hash', null), true)
      await execute(`INSERT INTO sign_in_links VALUES ('${id}', '${id}', ${later})`)
    }
    await execute(`UPDATE users SET ${fact} = ${later} WHERE id = '${user.id}'`)
    for (const table of ['sessions', 'sign_in_links'])
      assert.deepEqual(await read(`SELECT user_id FROM ${table}`), [{ user_id: bob.id }], table)
  })
}

interface Row {
  id: number
  email?: string
  externalId?: string
}

/** Runs statements in one transaction, and rolls it back if one fails. */
async function whole({ execute }: Pick<StoreFixture, 'execute'>, sql: string): Promise<void> {
  try {
    await execute(`BEGIN; ${sql}; COMMIT`)
  } catch (error) {
    await execute('ROLLBACK')
    throw error
  }
}

function insertion({ id, email = 'NULL', externalId = 'NULL' }: Row): string {
  return `INSERT INTO users (id, email, external_id, created_at)
    SELECT '${uuidOf(id)}', ${email}, ${externalId}, min(applied_at) FROM schema_migrations`
}

function identity(id: number): string {
  return `INSERT INTO identities VALUES ('issuer', '${id}', '${uuidOf(id)}');`
}
