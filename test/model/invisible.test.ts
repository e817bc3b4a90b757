import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeInvisible, hasInvisible, isInvisible } from '../../src/model/characters/invisible.ts'

// Fillers, blanks, joiners, selectors, tags and direction marks.
const INVISIBLE =
  '3164 115f ffa0 2800 34f 180b 17b5 fe0f fffa 1d173 e0041 e0100 200b 202e ad 61c feff 2028 0 7f 9f'

test('invisible characters are spelled out', () => {
  for (const hex of INVISIBLE.split(' ')) {
    const character = String.fromCodePoint(Number.parseInt(hex, 16))
    assert.equal(escapeInvisible(`a${character}b`), `a\\u{${hex}}b`)
    assert.ok(hasInvisible(`a${character}b`) && isInvisible(` ${character}\u3000`), hex)
  }
  assert.equal(escapeInvisible('\ue000'), '\\u{e000}')
  assert.equal(hasInvisible('\ue000'), false)
})

test('ordinary text is shown unchanged', () => {
  for (const text of [
    'Ada’s “Survival” 1.21 – é',
    '서버 게임',
    'سيرفر العرب',
    'सर्वर',
    '❤️',
    '👨‍👩‍👧‍👦 family',
    '🏳️‍🌈🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    '1️⃣ 👍🏽',
  ]) {
    assert.equal(escapeInvisible(text), text)
    assert.equal(isInvisible(text), false)
  }
})

test('a joiner between emoji that fonts have no picture for is spelled out', () => {
  assert.equal(escapeInvisible('👍\u200d👍'), '👍\\u{200d}👍')
  assert.equal(escapeInvisible('👍\u200d\u200d👍'), '👍\\u{200d}\\u{200d}👍')
  assert.equal(escapeInvisible('a\ufe0e'), 'a\\u{fe0e}')
  assert.equal(escapeInvisible('🏳\u200d🌈'), '🏳\\u{200d}🌈')
})

test('a joiner or a selector beside an emoji is still spelled out', () => {
  assert.equal(escapeInvisible('👍\u200d'), '👍\\u{200d}')
  assert.equal(escapeInvisible('❤️\ufe0f'), '❤️\\u{fe0f}')
  assert.equal(escapeInvisible('a\ufe0f👨‍👩‍👧‍👦'), 'a\\u{fe0f}👨‍👩‍👧‍👦')
})

test('a joiner that shapes the letters around it is shown unchanged', () => {
  for (const text of [
    'می\u200cخواهم', // Persian
    'کار\u200cها',
    'क्\u200dष', // Hindi
    'ক্\u200cষ র\u200d্যাব', // Bengali
    'ශ්\u200dරී', // Sinhala
  ]) {
    assert.equal(escapeInvisible(text), text)
  }
})

test('a joiner that shapes nothing is spelled out', () => {
  for (const [text, shown] of [
    ['pay\u200dpal', 'pay\\u{200d}pal'],
    ['м\u200cир', 'м\\u{200c}ир'],
    ['می\u200c\u200cخواهم', 'می\\u{200c}\\u{200c}خواهم'],
    ['\u200cسرور', '\\u{200c}سرور'],
    ['سرور\u200c', 'سرور\\u{200c}'],
    ['क\u200c ष', 'क\\u{200c} ष'],
    ['س\u200da', 'س\\u{200d}a'],
  ] as const)
    assert.equal(escapeInvisible(text), shown)
})

test('a direction mark is spelled out, wherever it stands', () => {
  for (const [text, shown] of [
    ['pay\u200fpal', 'pay\\u{200f}pal'],
    ['Lagoon\u200e!', 'Lagoon\\u{200e}!'],
    ['ש\u200fרת', 'ש\\u{200f}רת'],
    ['שרת!\u200f', 'שרת!\\u{200f}'],
    ['خادم\u061c 5', 'خادم\\u{61c} 5'],
    ['שרת\u202e!', 'שרת\\u{202e}!'],
  ] as const)
    assert.equal(escapeInvisible(text), shown)
})

test('ten times the joiners or emoji take about ten times as long', () => {
  // The event loop that shows names answers claims as well.
  for (const letter of ['\u200b', '👨\u200d', 'س\u200d']) {
    const microseconds = [100, 2_000, 20_000].map((count) => {
      const before = process.cpuUsage()
      escapeInvisible(letter.repeat(count))
      const { user, system } = process.cpuUsage(before)
      return user + system
    })
    const [, short, long] = microseconds
    // A hundred times is what backtracking takes.
    assert.ok(long! < 40 * short!, `${JSON.stringify(letter)}: ${microseconds.join(', ')} µs`)
  }
})
