import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clustersOf, displayWidth } from '../../src/model/characters/display-width.ts'

test('a wide letter or an emoji takes two columns, a mark or a joiner none', () => {
  for (const [text, columns] of [
    ['Lagoon', 6],
    ['Größe é', 7],
    ['e\u0301', 1],
    ['서버', 4],
    ['服务器', 6],
    ['サーバー', 8],
    ['Ａ', 2],
    ['ｱ', 1],
    ['ภาษาไทยเซิร์ฟเวอร์', 15],
    ['سيرفر', 5],
    ['می\u200cخواهم', 7],
    ['שרת\u200f!', 4],
    ['👨‍👩‍👧‍👦', 2],
    ['👁\u200d🗨', 2],
    ['1️⃣', 2],
    ['🇰🇷', 2],
    ['❤️', 2],
    ['❤', 1],
    ['a\u200bb', '\\u{200b}'.length + 2],
  ] as const)
    assert.equal(displayWidth(text), columns, text)
})

test('a letter is one cluster with its marks, and so is an emoji of several people', () => {
  const clusters = [...clustersOf('ก่👨‍👩‍👧‍👦e\u0301\u200bश्री')].map(({ text }) => text)
  assert.deepEqual(clusters, ['ก่', '👨‍👩‍👧‍👦', 'e\u0301', '\\u{200b}', 'श्री'])
})

test('a letter with more marks than a language writes is cut', () => {
  const clusters = [...clustersOf(`a${'\u0301'.repeat(99)}`)]
  assert.deepEqual(
    clusters.map(({ text }) => text.length),
    [20, 20, 20, 20, 20],
  )
  assert.equal(
    clusters.reduce((sum, { columns }) => sum + columns, 0),
    1,
  )
})
