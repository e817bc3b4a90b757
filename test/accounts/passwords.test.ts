import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { complaintAboutPassword, PASSWORD_LENGTH_MIN } from '../../src/accounts/passwords.ts'

const EMAIL = 'ada@example.com'

test('a password has 10 to 128 characters of any kind', async () => {
  for (const character of ['a', ' ', '가', '😀']) {
    assert.equal(await complaintAboutPassword(`${character.repeat(9)}!`, EMAIL), null)
    assert.equal(await complaintAboutPassword(character.repeat(128), EMAIL), null)
    assert.equal(
      await complaintAboutPassword(character.repeat(9), EMAIL),
      'have 10 to 128 characters, not 9',
    )
    assert.equal(
      await complaintAboutPassword(character.repeat(129), EMAIL),
      'have 10 to 128 characters, not 129',
    )
  }
})

test("a password can't be the email address in any case", async () => {
  assert.match((await complaintAboutPassword(EMAIL, EMAIL)) ?? '', /not be the email address/)
  assert.match((await complaintAboutPassword('ADA@example.COM', EMAIL)) ?? '', /not be the email/)
  assert.match((await complaintAboutPassword(EMAIL, EMAIL.toUpperCase())) ?? '', /not be the email/)
  assert.equal(await complaintAboutPassword(`${EMAIL}!`, EMAIL), null)
})

test("a password that a form can't send is refused", async () => {
  assert.match((await complaintAboutPassword(`123456789\ud800`, EMAIL)) ?? '', /well-formed/)
})

test('the most common passwords are refused in any case and any form of their characters', async () => {
  const refused =
    'not be one of the most common ones; choose another one, such as a few random words'
  for (const password of ['qwertyuiop', 'QwertyUIOP', '1234567890', '１２３４５６７８９０'])
    assert.equal(await complaintAboutPassword(password, EMAIL), refused, password)
  for (const password of ['qwertyuiop!', 'wertyuiop', ' qwertyuiop', 'copies of the Software'])
    assert.notEqual(await complaintAboutPassword(password, EMAIL), refused, password)
})

test('the list of common passwords has only lines that can be refused, in lower case', () => {
  const file = new URL('../../src/accounts/common-passwords.txt', import.meta.url)
  const text = readFileSync(file, 'utf8')
  const common = text.split('\n').filter((line) => !line.startsWith('#') && line !== '')
  assert.equal(new Set(common).size, 8_000)
  for (const password of common) {
    assert.equal(password, password.normalize('NFKC').toLowerCase())
    assert.ok([...password].length >= PASSWORD_LENGTH_MIN, password)
  }
  assert.ok(text.endsWith('\n'))
  assert.ok(Buffer.byteLength(text) < 100_000)
})
