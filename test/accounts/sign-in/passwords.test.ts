import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPasswords } from '../../../src/accounts/sign-in/passwords.ts'
import { workOf } from '../../fixtures/passwords/password-work.ts'

/*
 * How passwords are stored, and the cost of a check.
 */

/** Hashes from better-auth 1.7.7: of `old password`, and of a password with a decomposed accent. */
const OLD_HASH =
  '9959af7e90e6555d54218deca074fbb6:dfbdaa9b1223730501b55f2ecee7c33bc717aa6f56ec0feec0d9a4aa1603083addb68e1eda85b6fea46f45ab9d98efdb4733dad72e31d3038404410ea9fa2e0b'
const OLD_HASH_OF_ACCENT =
  'f069e275d2664adaa1c440aacbe29ffc:fa6eed051416bdea59eea001308ba9b717616324b9d34d04a1777038b20743bf957729e5da5a6dde8a45d5c457d135d304e664f8f651b5d93555a09f8cddc362'
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
  assert.equal(
    (await passwords.check('pe\u{301}ssword \u{1f408}', OLD_HASH_OF_ACCENT)).isRight,
    true,
  )
})

test('a hash from scrypt or with another cost accepts its password and is replaced', async () => {
  for (const [password, stored] of [
    ['old password', OLD_HASH],
    ['password', REFERENCE],
  ] as const) {
    assert.deepEqual(await passwords.check('wrong', stored), { isRight: false, renewed: null })
    const { isRight, renewed } = await passwords.check(password, stored)
    assert.equal(isRight, true)
    assert.deepEqual(await passwords.check(password, renewed), { isRight: true, renewed: null })
  }
})

test('an unknown kind of stored hash is a fault, not a wrong password', async () => {
  for (const stored of ['', '$2b$12$abc', `${OLD_HASH}0`, '$argon2id$v=19$m=1,t=1$a$b'])
    await assert.rejects(passwords.check('a password', stored), /neither argon2id nor scrypt/)
})

test('an unknown account costs as much as a wrong password, with old and new hashes', async () => {
  const stored = await passwords.hash('a password')
  const [unknown, wrong, old] = [
    await workOf(() => passwords.check('wrong', null)),
    await workOf(() => passwords.check('wrong', stored)),
    await workOf(() => passwords.check('wrong', OLD_HASH)),
  ]
  assert.equal(unknown.length, 1)
  assert.deepEqual(unknown, wrong)
  // argon2id and scrypt fill the same amount of memory. No test compares their times.
  assert.equal(old.length, 1)
  assert.equal(old[0]!.kibibytes, wrong[0]!.kibibytes)
})
