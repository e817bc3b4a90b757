import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readCsv, writeCell } from '../../../src/servers/file/csv.ts'
import { readServers } from '../../../src/servers/file/server-file.ts'
import { serverFile } from '../../../src/servers/file/write-servers.ts'
import type { ServerRecord } from '../../../src/servers/server.ts'

const NOTHING = { ignored: [], elsewhere: 0, shortened: 0 }
const SERVER: ServerRecord = {
  id: 'any',
  name: 'Survival',
  slug: null,
  address: 'play.example.com',
  edition: 'java',
  status: 'published',
  version: null,
  listing_kind: null,
  organization: null,
  updated_at: 1_769_860_800_000_001,
}

test('CSV keeps quoted delimiters, quotes and line breaks, and ends a row with any line break', () => {
  const text = 'a, b ,"c,d"\r\n"say ""hi""","two\nlines",\n" x ",,y\rlast'
  assert.deepEqual(readCsv(text, ','), [
    ['a', 'b', 'c,d'],
    ['say "hi"', 'two\nlines', ''],
    ['x', '', 'y'],
    ['last'],
  ])
  assert.deepEqual(readCsv('a;b\n1;2\n', ';'), [
    ['a', 'b'],
    ['1', '2'],
  ])
  assert.deepEqual(readCsv('a,', ','), [['a', '']])
  assert.deepEqual(readCsv('', ','), [])
  assert.deepEqual(readCsv('a\n"b\nc', ','), {
    complaint: 'has a cell in row 2 that begins with " and does not end',
  })
})

test('every text that is written into a cell is read from it, without spaces around it', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.string({ unit: 'binary' }), { minLength: 2 })), (rows) => {
      const width = Math.min(...rows.map(({ length }) => length), 4)
      const cells = rows.map((row) => row.slice(0, width))
      const text = cells.map((row) => `${row.map(writeCell).join(',')}\r\n`).join('')
      const trimmed = cells.map((row) => row.map((cell) => cell.trim()))
      assert.deepEqual(readCsv(text, ','), trimmed)
    }),
  )
})

const write = (format: 'json' | 'csv', parts: readonly ServerRecord[][]) => {
  const { add, end } = serverFile(format)
  return [...parts.map(add), end()].join('')
}

test('an export has the same servers in JSON and in CSV', async () => {
  const servers = [
    SERVER,
    { ...SERVER, name: '=1+1, "x" ', slug: 'x', version: '1.21', listing_kind: 'realm' },
    { ...SERVER, name: 'می‌خواهم 👩‍👩‍👧', status: 'archived', updated_at: -1 },
  ]
  for (const format of ['json', 'csv'] as const) {
    const inParts = [[], servers.slice(0, 1), [], servers.slice(1)]
    assert.equal(write(format, inParts), write(format, [servers]))
    const nothing = { entries: [], places: [], wrong: [], rows: 0 }
    const empty = { ...nothing, isCut: false, leftOut: NOTHING, isFullAnswer: false }
    assert.deepEqual(await readServers(write(format, [])), empty)
  }
  const read = await Promise.all(
    (['json', 'csv'] as const).map((format) => readServers(write(format, [servers]))),
  )
  // An import leaves a slug for null as for no slug.
  const entriesOf = (one: (typeof read)[number]) =>
    'entries' in one &&
    one.entries.map(({ slug, ...entry }) => (slug ? { ...entry, slug } : { ...entry }))
  assert.deepEqual(entriesOf(read[0]!), entriesOf(read[1]!))
  const { id: _, organization: _in, ...fields } = SERVER
  assert.ok('entries' in read[0]!)
  assert.deepEqual({ ...read[0].entries[0] }, fields)
  assert.deepEqual([read[0].rows, read[0].wrong], [3, []])
})

test('an empty cell empties an optional field, and a missing column leaves it', async () => {
  const read = await readServers('name,address,edition,version\nA,a.example,,\n\nB,b.example')
  assert.deepEqual(read, {
    entries: [
      { name: 'A', address: 'a.example', version: null },
      { name: 'B', address: 'b.example', version: null },
    ],
    places: ['row 2', 'row 4'],
    wrong: [],
    isCut: false,
    rows: 2,
    leftOut: NOTHING,
    isFullAnswer: false,
  })
  assert.deepEqual(await readServers('address\tname\nb.example\tB'), {
    entries: [{ name: 'B', address: 'b.example' }],
    places: ['row 2'],
    wrong: [],
    isCut: false,
    rows: 1,
    leftOut: NOTHING,
    isFullAnswer: false,
  })
})

test('each mistake has its row in CSV and its entry in JSON', async () => {
  const csv = await readServers('name,address\r\nA,a b\r\n\r\nB,b.example,more\r\n,c.example\r\n')
  assert.ok('wrong' in csv)
  assert.deepEqual(
    csv.wrong.map(({ place, message }) => `${place}: ${message.slice(0, 27)}`),
    [
      'row 2: "address" must be a domain ',
      'row 4: 3 cells, but the first row ',
      'row 5: "name" is missing',
    ],
  )
  const json = await readServers('[{"name":"A","address":"a"},{"name":"B"}]')
  assert.ok('wrong' in json)
  assert.deepEqual(json.wrong, [{ place: 'entry 2', message: '"address" is missing' }])
})

test('a file that is no list of servers gets one error with the reason', async () => {
  for (const [text, complaint] of [
    ['', /^is empty/],
    ['\n \n', /^is empty/],
    ['{"server":[]}', /^must be a JSON array of servers, or an answer .*, not \{"server":\[\]\}$/],
    [
      '{"servers":[],"next":2}',
      /^must be a JSON array of servers, or an answer of the API, which has only "servers"$/,
    ],
    ['{"servers":[]', /^is not JSON: it has no } behind its list$/],
    ['{"servers":[]}]', /^is not JSON: it has more text behind its list$/],
    ['[]}', /^is not JSON: it has more text behind its list$/],
    ['[{', /^is not JSON in entry 1: /],
    ['[{"",name,address', /^is not JSON in entry 1: /],
    ['# server.properties\nmotd=A', /^is neither JSON nor CSV/],
    ['name,address,NAME\nA,a,b', /^has the column "name" twice$/],
    ['name,address\nA,"a', /^has a cell in row 2 that begins with " and does not end$/],
  ] as const) {
    const read = await readServers(text)
    assert.ok('complaint' in read, text)
    assert.match(read.complaint, complaint)
  }
})
