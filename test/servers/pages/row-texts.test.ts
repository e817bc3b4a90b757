import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitTexts } from '../../../src/servers/pages/list/row-texts.ts'
import { type FoundServer, PAGE_SIZE } from '../../../src/servers/server-search.ts'
import { bytesOf } from '../../../src/web/html/text.ts'

/*
 * What a list of servers shows of long values.
 */

/** Bytes of the texts of fifty rows, with the titles. */
const PAGE_BYTES_MAX = 6_000

const SERVER: FoundServer = {
  id: '00000000-0000-0000-0000-000000000000',
  name: 'Lagoon',
  address: 'play.lagoon.example:25565',
  slug: null,
  edition: 'java',
  status: 'published',
  version: '1.21.4',
  listing_kind: null,
  organization_id: null,
  created_by: '',
  updated_at: 0,
  rank: 1,
}

const rowsOf = (change: Partial<FoundServer>, rows = PAGE_SIZE) =>
  fitTexts(Array.from({ length: rows }, () => ({ ...SERVER, ...change })))

test('fifty names of a list are whole in every script, if they have 46 columns', () => {
  for (const name of [
    'x'.repeat(46),
    'ภาษาไทยเซิร์ฟเวอร์',
    '서버'.repeat(11),
    'خادم ماينكرافت للبقاء',
  ])
    for (const row of rowsOf({ name })) assert.deepEqual([row.name, row.title], [name, null])
})

test('ten long names have all of it in their titles', () => {
  const name = `${'서버 '.repeat(30)}끝`
  for (const row of rowsOf({ name }, 10)) {
    assert.equal(row.name, `${'서버 '.repeat(8)}서버…`)
    assert.equal(row.title, name)
  }
})

test('the texts of fifty rows with their titles have at most 6,000 bytes', () => {
  for (const letter of ['"', '&', '\u{e0100}', 'a\u0301', '👨‍👩‍👧‍👦', '서', 'x'])
    for (const times of [8, 12, 20, 30, 46, 64, 200]) {
      const long = letter.repeat(times)
      const word = letter.repeat(Math.min(times, 64))
      for (const words of [{}, { edition: word, version: word, status: word }]) {
        const rows = rowsOf({ name: long, address: 'x'.repeat(times), ...words })
        const bytes = rows.reduce(
          (sum, { title, ...texts }) =>
            sum +
            Object.values(texts).reduce((all, text) => all + bytesOf(text), 0) +
            (title === null ? 0 : 9 + bytesOf(title)),
          0,
        )
        assert.ok(bytes <= PAGE_BYTES_MAX, `${JSON.stringify(letter)} ${times}: ${bytes}`)
        assert.ok(rows.every(({ name }) => bytesOf(name) >= Math.min(bytesOf(long), 24)))
      }
    }
})
