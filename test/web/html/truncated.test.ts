import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesOf, NAME_COLUMNS, titled, truncatedText } from '../../../src/web/html/text.ts'

/*
 * Where lists, notices and titles cut a name.
 */

test('a name of up to 46 columns stays whole in every script', () => {
  for (const name of [
    'x'.repeat(NAME_COLUMNS),
    'ภาษาไทยเซิร์ฟเวอร์',
    '서버'.repeat(11),
    'خادم ماينكرافت العربي للبقاء',
    'שרת\u200f מיינקראפט!',
    'सर्वाइवल सर्वर',
    '👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦',
  ])
    assert.equal(truncatedText(name), name)
})

test('a longer name ends with an ellipsis in the last of 46 columns', () => {
  assert.equal(truncatedText('x'.repeat(47)), `${'x'.repeat(45)}…`)
  assert.equal(truncatedText('서'.repeat(24)), `${'서'.repeat(22)}…`)
  assert.equal(truncatedText(`${'x'.repeat(44)} yz`), `${'x'.repeat(44)}…`)
  assert.equal(truncatedText('x'.repeat(9), 8), `${'x'.repeat(7)}…`)
})

test('a cut leaves letters with their marks, emoji and spelled-out characters whole', () => {
  const family = '👨‍👩‍👧‍👦'
  assert.equal(truncatedText(family.repeat(9)), `${family.repeat(5)}…`)
  assert.equal(truncatedText('e\u0301'.repeat(9), 8), `${'e\u0301'.repeat(7)}…`)
  assert.equal(truncatedText('\u202e'.repeat(9)), `${'\\u{202e}'.repeat(5)}…`)
  assert.equal(truncatedText('เซิ'.repeat(30)), `${'เซิ'.repeat(15)}เ…`)
})

test('no name takes more than three bytes of HTML a column', () => {
  for (const letter of ['"', '&', '\u{e0100}', 'a\u0301', '👨‍👩‍👧‍👦', '서', 'ก่', '\u{10ffff}'])
    for (const times of [20, 60, 200]) {
      const bytes = bytesOf(truncatedText(letter.repeat(times)))
      assert.ok(bytes <= 3 * NAME_COLUMNS + bytesOf('…'), `${JSON.stringify(letter)}: ${bytes}`)
    }
  assert.notEqual(truncatedText(`a${'\u0301'.repeat(199)}`), '…')
})

test('the part of a text that is cut off takes no time', () => {
  // The event loop that cuts fifty rows of these answers claims as well.
  for (const letter of ['\u200b', '👨\u200d', '\u05d0!!!!!!!\u200f']) {
    const before = process.cpuUsage()
    truncatedText(letter.repeat(10_000))
    const { user } = process.cpuUsage(before)
    assert.ok(user < 300_000, `${JSON.stringify(letter)}: ${user} µs`)
  }
})

test('the title of a cut name has all of it, up to 300 bytes', async () => {
  const long = `${'x'.repeat(50)}"\u200b`
  assert.equal(String(await titled('Lagoon')), '<bdi>Lagoon</bdi>')
  assert.equal(
    String(await titled(long)),
    `<bdi title="${'x'.repeat(50)}&quot;\\u{200b}">${'x'.repeat(45)}…</bdi>`,
  )
  assert.equal(String(await titled('x'.repeat(301))), `<bdi>${'x'.repeat(45)}…</bdi>`)
})
