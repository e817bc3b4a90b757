import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPasswords } from '../../../src/accounts/sign-in/passwords.ts'
import { workOf } from '../../fixtures/passwords/password-work.ts'

/*
 * How passwords are stored, and the cost of a check.
 */

/** The hash of `password` in the tests of Argon2's reference implementation. */
const REFERENCE =
  '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4'

const passwords = createPasswords()

test('each password is stored as argon2id with its own salt, and only that password is right', async () => {
  const [one, two] = [await passwords.hash('a password'), await passwords.hash('a password')]
  assert.notEqual(one, two)
  const [, memory, passes] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$[\w+/]{22}\$[\w+/]{43}$/.exec(one) ?? []
  // OWASP's minimum.
  assert.ok(Number(memory) >= 19_456 && Number(passes) >= 2, one)
  assert.deepEqual(await passwords.check('a password', one), { isRight: true, renewed: null })
  for (const wrong of ['A password', 'a password ', ''])
    assert.deepEqual(await passwords.check(wrong, one), { isRight: false, renewed: null })
})

test('a composed and a decomposed accent are the same password', async () => {
  const stored = await passwords.hash('p\u{e9}ssword')
  assert.equal((await passwords.check('pe\u{301}ssword', stored)).isRight, true)
})

test('a hash with another cost accepts its password and is replaced', async () => {
  assert.deepEqual(await passwords.check('wrong', REFERENCE), { isRight: false, renewed: null })
  const { isRight, renewed } = await passwords.check('password', REFERENCE)
  assert.equal(isRight, true)
  assert.deepEqual(await passwords.check('password', renewed), { isRight: true, renewed: null })
})

test('an unknown kind of stored hash is a fault, not a wrong password', async () => {
  for (const stored of ['', '$2b$12$abc', '0a:0b', '$argon2id$v=19$m=1,t=1$a$b'])
    await assert.rejects(passwords.check('a password', stored), /is not argon2id/)
})

test('an unknown account costs as much as a wrong password', async () => {
  const stored = await passwords.hash('a password')
  const unknown = await workOf(() => passwords.check('wrong', null))
  const wrong = await workOf(() => passwords.check('wrong', stored))
  assert.equal(unknown.length, 1)
  assert.deepEqual(unknown, wrong)
})
