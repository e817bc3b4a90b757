import assert from 'node:assert/strict'
import { test } from 'node:test'
import { complaintAboutPassword } from '../../src/listing/accounts.ts'

const EMAIL = 'ada@example.com'

test('a password has 10 to 128 characters, whatever they are', () => {
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

test('a password is not the e-mail address in any case of its letters', () => {
  assert.match(complaintAboutPassword(EMAIL, EMAIL) ?? '', /not be the e-mail address/)
  assert.match(complaintAboutPassword('ADA@example.COM', EMAIL) ?? '', /not be the e-mail/)
  assert.match(complaintAboutPassword(EMAIL, EMAIL.toUpperCase()) ?? '', /not be the e-mail/)
  assert.equal(complaintAboutPassword(`${EMAIL}!`, EMAIL), null)
})

test('a password that no form could send again is refused', () => {
  assert.match(complaintAboutPassword(`123456789\ud800`, EMAIL) ?? '', /well-formed/)
})
