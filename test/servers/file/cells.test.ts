import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readServers } from '../../../src/servers/file/server-file.ts'
import { serverFile } from '../../../src/servers/file/write-servers.ts'
import type { ServerEntry } from '../../../src/servers/server-entry.ts'

/*
 * What the text of a cell or of a JSON string means.
 */

/** Every space of Unicode but line breaks, and the byte order mark, which looks like none. */
const SPACES = [
  ...' \t\v\f\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a',
  ...'\u202f\u205f\u3000\ufeff',
]
const AROUND = fc
  .array(fc.constantFrom(...SPACES), { maxLength: 3 })
  .map((spaces) => spaces.join(''))

/** Quotes are a matter of the format, so the values that stand bare have none. */
const line = fc.string({ unit: fc.constantFrom(...'aé7👾.=- \u00a0'), minLength: 1, maxLength: 9 })
const value = line.map((text) => text.trim()).filter((text) => text !== '')
const SERVER = fc.record({
  name: value,
  address: fc.constantFrom('a.example', 'b.example:25565', '[::1]:19132'),
  edition: value,
  version: value,
  updated_at: fc.constant('2026-01-31T12:00:00Z'),
})
const SPACED = fc.tuple(SERVER, fc.array(AROUND, { minLength: 10, maxLength: 10 }))

test('spaces around a value mean nothing, in a bare cell, in quotes and in JSON', async () => {
  await fc.assert(
    fc.asyncProperty(SPACED, async ([server, around]) => {
      const names = Object.keys(server)
      const texts = Object.values(server)
      const spaced = (text: string, at: number) =>
        `${around[2 * at]!.replaceAll('\t', '')}${text}${around[2 * at + 1]!}`
      const quoted = (text: string, at: number) =>
        spaced(`"${spaced(text.replaceAll('"', '""'), at)}"`, at)
      const json = JSON.stringify([
        Object.fromEntries(texts.map((text, at) => [names[at], spaced(text, at)])),
      ])
      const [expected] = await entriesOf(JSON.stringify([server]))
      for (const text of [
        json,
        `${names.map(spaced).join(',')}\n${texts.map(spaced).join(',')}\n`,
        `${names.map(quoted).join(',')}\n${texts.map(quoted).join(',')}\r\n`,
        `${names.join('\t')}\n${texts.map((one) => `"${one}"`).join(' \t ')}`,
      ])
        assert.deepEqual(await entriesOf(text), [expected], JSON.stringify(text))
    }),
  )
})

test('an import of an export has the values of the export, in both formats', async () => {
  const servers = fc.array(
    fc.record(
      { name: value, version: fc.option(value), edition: value },
      { noNullPrototype: true },
    ),
  )
  await fc.assert(
    fc.asyncProperty(servers, async (some) => {
      const records = some.map((one) => ({
        ...one,
        id: 'any',
        slug: null,
        address: 'a.example',
        status: 'published',
        listing_kind: null,
        organization: null,
        updated_at: 1_769_860_800_000_000,
      }))
      for (const format of ['json', 'csv'] as const) {
        const { add, end } = serverFile(format)
        const entries = await entriesOf(add(records) + end())
        const read = entries.map(({ name, version, edition }) => ({ name, version, edition }))
        assert.deepEqual(read, some)
      }
    }),
  )
})

test('a quote behind spaces begins a quoted cell', async () => {
  const text =
    'name, "address" ,\u00a0"version"\nLagoon, a.example , "1.21, or ""newer"""\u3000\nReef,b.example,"2"'
  assert.deepEqual(await entriesOf(text), [
    { name: 'Lagoon', address: 'a.example', version: '1.21, or "newer"' },
    { name: 'Reef', address: 'b.example', version: '2' },
  ])
  assert.deepEqual(await entriesOf('name\taddress\n \t\nA \t "a.example"'), [
    { name: 'A', address: 'a.example' },
  ])
  assert.deepEqual(await entriesOf('name,address\nThe "A",a.example'), [
    { name: 'The "A"', address: 'a.example' },
  ])
})

test('text behind the quote that ends a cell is refused with its row', async () => {
  for (const cell of ['"Lagoon" the best', '"Lagoon"the best', ' "Lagoon"" "x', '"a" "b"'])
    assert.deepEqual(await readServers(`name,address\nA,a.example\n${cell},b.example`), {
      complaint:
        'has text behind the closing " of a cell in row 3. Write each " within a quoted cell twice',
    })
})

test('a row that has the names of the columns again is refused with its row', async () => {
  const repeats =
    'has the names of the columns again. Delete this row, or import each file by itself'
  for (const [head, again] of [
    ['name,address', 'name,address'],
    ['name,address', '\ufeffname,address'],
    ['name,address', '\ufeff"name","address"'],
    ['name,address', ' Name , ADDRESS '],
    ['name,address,version', 'name,address,version'],
    ['name,address,version,', 'version,address,name'],
    ['name,address', 'name,address,updated_at'],
    ['sep=;\nname;address;updated_at', 'name;address;updated_at'],
  ])
    for (const [rest, row] of [
      [
        ['A,a.example', again, 'B,b.example', again],
        [3, 5],
      ],
      [[again], [2]],
    ] as const) {
      const rows = rest.map((one) => (head!.includes(';') ? one!.replace(',', ';') : one))
      const read = await readServers([head, ...rows].join('\r\n'))
      assert.ok('wrong' in read, JSON.stringify(read))
      assert.deepEqual(
        read.wrong,
        row.map((number) => ({ place: `row ${number}`, message: repeats })),
      )
    }
  assert.deepEqual(await entriesOf('name,address\nName,play.example\nA,address'), [
    { name: 'Name', address: 'play.example' },
    { name: 'A', address: 'address' },
  ])
})

test('words for no value are as an empty cell', async () => {
  for (const word of ['', '\\N', 'NULL', 'N/A', ' NULL\u00a0']) {
    const fields = {
      address: 'a.example',
      port: word,
      slug: word,
      edition: word,
      status: word,
      version: word,
      listing_kind: word,
      updated_at: word,
      organization: word,
      notes: word,
    }
    const names = Object.keys(fields).join(',')
    for (const text of [
      JSON.stringify([{ name: 'A', ...fields }]),
      `name,${names}\nA,${Object.values(fields).join(',')}`,
      `name,${names}\n"A",${Object.values(fields)
        .map((cell) => `"${cell}"`)
        .join(',')}`,
    ])
      assert.deepEqual(await entriesOf(text), [
        { name: 'A', address: 'a.example', version: null, listing_kind: null },
      ])
    for (const [text, field, place] of [
      [`name,address\nA,${word}\n`, 'address', 'row 2'],
      [`name,address\n${word},a.example\n`, 'name', 'row 2'],
      [JSON.stringify([{ name: word, address: 'a.example' }]), 'name', 'entry 1'],
    ] as const) {
      const missing = await readServers(text)
      assert.ok('wrong' in missing)
      assert.deepEqual(missing.wrong, [{ place, message: `"${field}" is missing` }])
    }
  }
  assert.deepEqual(await entriesOf('name,address,version,edition\nA,a,null,-'), [
    { name: 'A', address: 'a', version: 'null', edition: '-' },
  ])
})

test('each wrong value of a field gets one sentence', async () => {
  for (const slug of ['a b'.repeat(99), '\u200b', 'a b'])
    for (const text of [
      JSON.stringify([{ name: 'A', address: 'a', slug }]),
      `name,address,slug\nA,a,${slug}`,
    ]) {
      const read = await readServers(text)
      assert.equal('wrong' in read && read.wrong.length, 1, JSON.stringify(read))
    }
})

test('rows in quotes as a whole, and other delimiters, are told how CSV looks', async () => {
  for (const text of [
    '"name,address"\n"A,a.example"\n',
    '"name,""address"""\n"A,""a.example"""\n',
    'name|address\nA|a.example\n',
  ])
    assert.deepEqual(await readServers(text), {
      complaint:
        'is neither JSON nor CSV. CSV begins with a row such as name,address. Put a comma, a ' +
        'semicolon or a tab between two cells, and no quotes around a whole row',
    })
})

async function entriesOf(text: string): Promise<ServerEntry[]> {
  const read = await readServers(text)
  assert.ok('entries' in read && read.wrong.length === 0, JSON.stringify(read))
  return read.entries.map((entry) => ({ ...entry }))
}
