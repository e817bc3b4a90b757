import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonRecords } from '../../../src/servers/file/json-list.ts'
import type { FoundRecord } from '../../../src/servers/file/record.ts'

/** The values of a text, or null if it is no JSON array. */
function read(text: string): unknown[] | null {
  const reading = jsonRecords(text)
  const values: unknown[] = []
  for (;;) {
    const { done, value } = reading.next()
    if (done === true) return value === null ? values : null
    values.push(value.value)
  }
}

function parsed(text: string): unknown[] | null {
  try {
    return JSON.parse(text) as unknown[]
  } catch {
    return null
  }
}

test('a list that is read value by value has the values of JSON.parse', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue()),
      fc.constantFrom(undefined, 1, '\t', '\r\n'),
      (list, space) => {
        const text = ` ${JSON.stringify(list, null, space)}\n`
        assert.deepEqual(read(text), JSON.parse(text))
      },
    ),
  )
})

test('a list with one wrong character is refused where JSON.parse refuses it', () => {
  const wrong = fc.constantFrom('[', ']', '{', '}', ',', ':', '"', '\\', ' ', '\n', 'x', '1', '')
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.nat(), wrong, (list, seed, character) => {
      const good = JSON.stringify(list)
      const at = 1 + (seed % good.length)
      for (const text of [
        good.slice(0, at) + character + good.slice(at),
        good.slice(0, at) + character + good.slice(at + 1),
      ])
        assert.deepEqual(read(text), parsed(text), text)
    }),
    { numRuns: 1_000 },
  )
})

test('an entry that has a field twice is a mistake, wherever its other colons stand', () => {
  for (const entry of ['{"name":"a","name":"b"}', '{"a":{"b":1},"a":2}', '{"a" :1,"\\u0061": 1}'])
    assert.equal(mistakeIn(entry), 'has a field twice', entry)
  for (const entry of [
    '{"a":"x:y","b\\":":1}',
    '{"a":{"b":1,"c":2}}',
    '{}',
    '"a:b"',
    'null',
    '[":"]',
  ])
    assert.equal(mistakeIn(entry), undefined, entry)
})

test('a value is read before the rest of the text', () => {
  const reading = jsonRecords('[{"a":"]"}, what follows')
  const first = { place: 'entry 1', value: { a: ']' }, length: 9 }
  assert.deepEqual(reading.next(), { done: false, value: first })
  const { done, value } = reading.next()
  assert.equal(done, true)
  assert.match(
    (value as { complaint: string }).complaint,
    /^is not JSON in entry 2: Unexpected token/,
  )
  for (const [text, complaint] of [
    ['[1', 'is not JSON: its list has no ] at the end'],
    ['[1} ', 'is not JSON: its list has no ] at the end'],
    ['[1]]', 'is not JSON: it has more text behind its list'],
    ['[] x', 'is not JSON: it has more text behind its list'],
    ['[1,]', 'is not JSON in entry 2: Unexpected end of JSON input'],
    ['[', 'is not JSON in entry 1: Unexpected end of JSON input'],
  ] as const)
    assert.equal(complaintOf(text), complaint)
})

function mistakeIn(entry: string): string | undefined {
  return (jsonRecords(`[${entry}]`).next().value as FoundRecord).mistake
}

function complaintOf(text: string): string | undefined {
  const reading = jsonRecords(text)
  for (;;) {
    const { done, value } = reading.next()
    if (done === true) return value?.complaint
  }
}
