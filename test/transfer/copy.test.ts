import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { copyTables, NotCopied, type Progress, type Row } from '../../src/transfer/copy.ts'
import { sourceOf, targetOf } from './copy-sides.ts'

/*
 * What copying does between two engines, whichever they are: in what order, what it refuses, and
 * what it tells.
 */

const TABLES = {
  users: { columns: ['id', 'email'], rows: [row('1', 'a'), row('2', 'b'), row('3', 'c')] },
  keys: { columns: ['id'], rows: [] },
}
const KINDS = { users: { id: 'uuid', email: 'text' }, keys: { id: 'uuid', more: 'text' } } as const

test('all tables are written in their order, a batch at a time, and each is compared and told', async () => {
  const target = targetOf(KINDS)
  const told: Progress[] = []
  const copied = await copyTables(sourceOf(TABLES, 2), target, (progress) => told.push(progress))
  assert.deepEqual(target.rows, new Map([['users', TABLES.users.rows]]))
  assert.deepEqual(target.written, [
    {
      name: 'users',
      columns: [
        { name: 'id', kind: 'uuid' },
        { name: 'email', kind: 'text' },
      ],
    },
    {
      name: 'users',
      columns: [
        { name: 'id', kind: 'uuid' },
        { name: 'email', kind: 'text' },
      ],
    },
  ])
  assert.deepEqual(copied, [
    { name: 'users', count: 3 },
    { name: 'keys', count: 0 },
  ])
  assert.deepEqual(
    told.map(({ table, act, done, count }) => `${table} ${act} ${done}/${count}`),
    [
      'users copied 0/3',
      'users copied 2/3',
      'users copied 3/3',
      'keys copied 0/0',
      'users compared 3/3',
      'keys compared 0/0',
    ],
  )
})

test('the next batch is read while the last one is written, and written when that is done', async () => {
  const log: string[] = []
  const source = sourceOf(TABLES, 1, (event) => log.push(event))
  const target = targetOf(KINDS, { onWrite: (event) => log.push(event) })
  await copyTables(source, target, () => {})
  assert.deepEqual(log, [
    'read 1',
    'write 1',
    'read 2',
    'written 1',
    'write 2',
    'read 3',
    'written 2',
    'write 3',
    'written 3',
  ])
})

const REFUSED: [name: string, kinds: Parameters<typeof targetOf>[0], complaint: RegExp][] = [
  ['a table', { users: KINDS.users }, /nothing was copied: the target has no table keys$/],
  [
    'a column',
    { ...KINDS, users: { id: 'uuid' } },
    /nothing was copied: the target's table users has no column email$/,
  ],
  [
    'the type of a column',
    { ...KINDS, users: { id: 'uuid', email: null } },
    /nothing was copied: the target's column email of users has a type that copying does not know$/,
  ],
]
for (const [name, kinds, complaint] of REFUSED)
  test(`a target that does not know ${name} gets nothing`, async () => {
    const target = targetOf(kinds)
    await assert.rejects(copyTables(sourceOf(TABLES), target, unexpected), refused(complaint))
    assert.deepEqual(target.written, [])
  })

test('a target with rows gets nothing, and the error names its tables with rows', async () => {
  for (const [filled, complaint] of [
    [['users'], /must be empty, but has rows in users \(1\)$/],
    [['users', 'keys'], /must be empty, but has rows in users \(1\), keys \(1\)$/],
  ] as const) {
    const target = targetOf(KINDS, { filled })
    await assert.rejects(copyTables(sourceOf(TABLES), target, unexpected), refused(complaint))
    assert.deepEqual(target.written, [])
  }
})

test('a lost row and an altered row each stop the copy', async () => {
  const loses = targetOf(KINDS, { keep: (rows) => rows.filter(([id]) => id !== '2') })
  await assert.rejects(
    copyTables(sourceOf(TABLES), loses, () => {}),
    refused(/nothing was copied: the table users has 3 rows, but 2 arrived$/),
  )
  const alters = targetOf(KINDS, { keep: (rows) => rows.map(([id]) => [id!, 'x']) })
  await assert.rejects(
    copyTables(sourceOf(TABLES), alters, () => {}),
    refused(/nothing was copied: rows of the table users changed on the way/),
  )
})

test('the first failure is reported, and a second one beside it is handled', async () => {
  const reading = sourceOf(TABLES, 1, (event) => {
    if (event === 'read 2') broken()
  })
  const lost = targetOf(KINDS, { onWrite: lose })
  await assert.rejects(
    copyTables(reading, lost, () => {}),
    /the disk/,
  )
  const comparing = { ...sourceOf(TABLES), fingerprint: broken }
  const gone = { ...targetOf(KINDS), fingerprint: () => Promise.reject(new Error('the network')) }
  await assert.rejects(
    copyTables(comparing, gone, () => {}),
    /the disk/,
  )
  await assert.rejects(
    copyTables(sourceOf(TABLES, 1), targetOf(KINDS, { onWrite: lose }), () => {}),
    /the network/,
  )
  // An unhandled rejection would fail this test.
  await turn()
})

function broken(): never {
  throw new Error('the disk')
}

function lose(): void {
  throw new Error('the network')
}

function unexpected(): void {
  assert.fail('told of progress')
}

function refused(complaint: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof NotCopied)
    assert.match(error.message, complaint)
    return true
  }
}

function row(...values: Row): Row {
  return values
}
