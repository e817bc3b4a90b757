import assert from 'node:assert/strict'
import { test } from 'node:test'
import { complaintAboutPassword } from '../../src/accounts/passwords.ts'

const EMAIL = 'ada@example.com'

test('a password has 10 to 128 characters of any kind', () => {
  for (const character of ['a', ' ', '가', '😀']) {
    assert.equal(complaintAboutPassword(character.repeat(10), EMAIL), null)
    assert.equal(complaintAboutPassword(character.repeat(128), EMAIL), null)
    assert.equal(
      complaintAboutPassword(character.repeat(9), EMAIL),
      'have 10 to 128 characters, not 9',
    )
    assert.equal(
      complaintAboutPassword(character.repeat(129), EMAIL),
      'have 10 to 128 characters, not 129',
    )
  }
})

test("a password can't be the email address in any case", () => {
  assert.match(complaintAboutPassword(EMAIL, EMAIL) ?? '', /not be the email address/)
  assert.match(complaintAboutPassword('ADA@example.COM', EMAIL) ?? '', /not be the email/)
  assert.match(complaintAboutPassword(EMAIL, EMAIL.toUpperCase()) ?? '', /not be the email/)
  assert.equal(complaintAboutPassword(`${EMAIL}!`, EMAIL), null)
})

test("a password that a form can't send is refused", () => {
  assert.match(complaintAboutPassword(`123456789\ud800`, EMAIL) ?? '', /well-formed/)
})
