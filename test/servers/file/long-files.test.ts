import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns, TURN_CHARACTERS_MAX, TURN_ENTRIES_MAX } from '../../../src/model/turns.ts'
import { ENTRY_LENGTH_MAX } from '../../../src/servers/file/record.ts'
import { MISTAKES_MAX, readServers } from '../../../src/servers/file/server-file.ts'
import { inspectEntry } from '../../../src/servers/server-entry.ts'

/*
 * Long files in turns of the event loop. The tests count work instead of time, so that a busy
 * machine can't fail them.
 */

const LENGTH = 200_000
const listOf = (item: string) =>
  `[${Array<string>(Math.floor(LENGTH / (item.length + 1)))
    .fill(item)
    .join(',')}]`
const VALID = { name: 'A', address: 'a.example', version: null }

/** Files of many kinds of entries and rows. */
const LONG = {
  'empty objects': listOf('{}'),
  zeros: listOf('0'),
  servers: listOf(JSON.stringify(VALID)),
  'long servers': listOf(JSON.stringify({ ...VALID, name: 'é'.repeat(9_000) })),
  'short rows': `name,address\n${'a\n'.repeat(LENGTH / 2)}`,
  'empty rows': `name,address\n${',\n'.repeat(LENGTH / 2)}`,
  'rows of servers': `name,address\n${'a,a.example\n'.repeat(LENGTH / 12)}`,
}

for (const [name, text] of Object.entries(LONG))
  test(`a turn of the event loop reads and checks a bounded part of a file: ${name}`, async () => {
    let [entries, characters, ended] = [0, 0, 0]
    const { after } = createTurns(async () => {
      ended += 1
      entries = 0
      characters = 0
    })
    let read = 0
    const result = await readServers(text, {
      turns: {
        after(length) {
          entries += 1
          characters += length
          read += 1
          assert.ok(length <= ENTRY_LENGTH_MAX + 1)
          assert.ok(entries <= TURN_ENTRIES_MAX)
          assert.ok(characters <= TURN_CHARACTERS_MAX + ENTRY_LENGTH_MAX)
          return after(length)
        },
      },
    })
    assert.ok(ended >= Math.floor(read / TURN_ENTRIES_MAX), `${ended} turns for ${read} entries`)
    assert.ok(read > 10)
    assert.ok('rows' in result)
    // An empty object has two mistakes.
    const checked = result.isCut ? MISTAKES_MAX / 2 : result.rows
    assert.ok(read >= result.rows + checked, `${read} times for ${result.rows} servers`)
  })

test('other work runs while a long file is read', async () => {
  let turns = 0
  const other = setInterval(() => {
    turns += 1
  }, 0)
  const read = await readServers(LONG.servers)
  clearInterval(other)
  assert.ok('entries' in read && read.entries.length > 2_000)
  assert.ok(turns > 1)
})

test('a file with more servers than allowed is counted to its end, and none of them is checked', async () => {
  for (const [text, rows] of [
    [`[${Array<string>(2_500).fill('{}').join(',')}]`, 2_500],
    [`name,address\n${'a\n\n'.repeat(1_700)}`, 1_700],
  ] as const) {
    const refused = await readServers(text, { rowsMax: 1_600 })
    const complaint = `has ${rows.toLocaleString('en-US')} servers, more than the limit of 1,600`
    assert.deepEqual(refused, { complaint })
  }
  const ten = await readServers(`[${Array<string>(10).fill(JSON.stringify(VALID)).join(',')}]`, {
    rowsMax: 10,
  })
  assert.ok('rows' in ten && ten.rows === 10)
})

test('reading ends after a hundred mistakes', async () => {
  for (const text of [LONG.zeros, LONG['short rows']]) {
    const read = await readServers(text)
    assert.ok('wrong' in read)
    assert.equal(read.isCut, true)
    assert.equal(read.wrong.length, MISTAKES_MAX)
  }
  const read = await readServers(
    listOf('{}')
      .slice(0, 3 * (MISTAKES_MAX / 2 - 1))
      .concat(']'),
  )
  assert.ok('wrong' in read)
  assert.deepEqual([read.isCut, read.wrong.length], [false, MISTAKES_MAX - 2])
})

test('an entry or a row that is far too long is named, however long it is', async () => {
  const [long, more] = ['x'.repeat(LENGTH), `has more than 16,384 characters in`]
  for (const [text, place] of [
    [`[0,{"name":"${long}"}]`, 'entry 2'],
    [`[${'['.repeat(LENGTH)}${']'.repeat(LENGTH)}]`, 'entry 1'],
    [`[${'['.repeat(LENGTH)}`, 'entry 1'],
    [`name,address\n${long}`, 'row 2'],
    [`name,address\n${','.repeat(LENGTH)}`, 'row 2'],
  ] as const)
    assert.deepEqual(await readServers(text), { complaint: `${more} ${place}` })
  assert.deepEqual(await readServers(`name,address${','.repeat(LENGTH)}`), {
    complaint:
      'is neither JSON nor CSV. CSV begins with a row such as name,address. Put a comma, a ' +
      'semicolon or a tab between two cells, and no quotes around a whole row',
  })
  assert.deepEqual(await readServers(`{"a":"${long}"}`), {
    complaint: 'must be a JSON array of servers, or an answer of the API',
  })
})

const escaped = (text: string) =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

test('the longest valid server is short enough, with every character escaped', async () => {
  const fields = {
    name: 'é'.repeat(200),
    address: `${'a.'.repeat(126)}a:65535`,
    slug: 'é'.repeat(200),
    edition: 'é'.repeat(64),
    status: 'é'.repeat(64),
    version: 'é'.repeat(64),
    listing_kind: 'é'.repeat(64),
    updated_at: '2026-01-31T12:00:00.000000+00:00',
  }
  assert.ok('entry' in inspectEntry(fields))
  const members = Object.entries(fields).map(([name, value]) => `"${name}":"${escaped(value)}"`)
  const text = `[{${members.join(',')}}]`
  const read = await readServers(text)
  assert.ok('entries' in read)
  assert.equal(read.entries[0]!.name, fields.name)
  assert.ok(text.length < ENTRY_LENGTH_MAX / 2, `${text.length}`)
})
