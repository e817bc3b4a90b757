import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { addUser, issueKey } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { openForeign } from './foreign-program.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** What the triggers of keys and of the list of revoked hashes do, whichever program writes. */
export function revokedHashesContract(open: OpenFixture): void {
  test('a key that any program revokes is listed, and stays revoked', async (t) => {
    const { key, later, execute, read, isListed, outcome } = await openForeign(open, t)
    assert.equal(await isListed(key), false)
    await execute(`UPDATE api_keys SET revoked_at = ${later}`)
    assert.equal(await isListed(key), true)
    const before = await read('SELECT id, revoked_at FROM api_keys')
    await execute('UPDATE api_keys SET revoked_at = NULL')
    assert.deepEqual(await read('SELECT id, revoked_at FROM api_keys'), before)
    assert.equal(await outcome(key), 'revoked')
  })

  test('a key that any program inserts as revoked is listed', async (t) => {
    const { later, insert, isListed, outcome } = await openForeign(open, t)
    const key = generateKey()
    await insert(key, { revokedAt: later })
    assert.equal(await isListed(key), true)
    assert.equal(await outcome(key), 'revoked')
  })

  test('a key is deleted and inserted again: it is active, unless it was revoked', async (t) => {
    const { key, later, execute, insert, isListed, outcome } = await openForeign(open, t)
    await execute('DELETE FROM api_keys')
    assert.equal(await outcome(key), 'unknown')
    assert.equal(await isListed(key), false)
    await insert(key)
    assert.equal(await outcome(key), 'granted')
    await execute(`UPDATE api_keys SET revoked_at = ${later}`)
    await execute('DELETE FROM api_keys')
    assert.equal(await isListed(key), true)
    await insert(key)
    assert.equal(await outcome(key), 'revoked')
  })

  test('a hash that any program lists revokes its key, also one that comes later', async (t) => {
    const { key, user, store, list, insert, outcome } = await openForeign(open, t)
    await list(key)
    assert.equal(await outcome(key), 'revoked')
    const later = generateKey()
    await list(later)
    // A revoked key takes none of the five places.
    for (let index = 0; index < 5; index += 1) await issueKey(store, user)
    await insert(later)
    assert.equal(await outcome(later), 'revoked')
  })

  test('a hash is listed once: a second revocation or union changes nothing', async (t) => {
    const { key, later, hashed, literal, execute, read, list } = await openForeign(open, t)
    await execute(`UPDATE api_keys SET revoked_at = ${later}`)
    const rows = () => read(`SELECT * FROM revoked_hashes WHERE key_hash = ${hashed(key)}`)
    const before = await rows()
    assert.equal(before.length, 1)
    await execute(`UPDATE api_keys SET revoked_at = ${literal.instant(5)}`)
    await list(key)
    assert.deepEqual(await rows(), before)
  })

  test('the list only grows', async (t) => {
    const { key, hashed, execute, list, isListed } = await openForeign(open, t)
    await list(key)
    const grows = /revoked_hashes only grows/
    await assert.rejects(
      execute(`DELETE FROM revoked_hashes WHERE key_hash = ${hashed(key)}`),
      grows,
    )
    await assert.rejects(execute('DELETE FROM revoked_hashes'), grows)
    await assert.rejects(execute(`UPDATE revoked_hashes SET key_hash = ${hashed('other')}`), grows)
    await assert.rejects(execute('UPDATE revoked_hashes SET revoked_at = NULL'), grows)
    assert.equal(await isListed(key), true)
  })

  test('the id and the hash of a key never change', async (t) => {
    const { hashed, execute, read } = await openForeign(open, t)
    const before = await read('SELECT * FROM api_keys')
    for (const change of [`id = '${randomUUID()}'`, `key_hash = ${hashed('other')}`])
      await assert.rejects(execute(`UPDATE api_keys SET ${change}`), /of a key never change/)
    assert.deepEqual(await read('SELECT * FROM api_keys'), before)
  })

  test('no program gives a user a sixth active key', async (t) => {
    const { store, user, later, execute, insert, list, outcome } = await openForeign(open, t)
    const [another, revoked] = [generateKey(), generateKey()]
    const bob = await addUser(store, 'bob@example.com')
    for (let index = 0; index < 4; index += 1) await issueKey(store, user)
    await insert(revoked, { revokedAt: later })
    await insert(another, { owner: bob.id })
    const five = /5 active keys/
    await assert.rejects(insert(generateKey()), five)
    await assert.rejects(execute(`UPDATE api_keys SET user_id = '${user.id}'`), five)
    // Nothing becomes active.
    await execute('UPDATE api_keys SET revoked_at = NULL')
    assert.equal(await outcome(revoked), 'revoked')
    await list(another)
    await execute(`UPDATE api_keys SET user_id = '${user.id}'`)
    assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 7)
  })
}
