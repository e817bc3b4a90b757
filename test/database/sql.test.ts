import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, raw, type Sql, sql, uuid } from '../../src/database/sql.ts'

const spelled = ({ texts, values }: Sql) => [texts.join('?'), values]

test('a value becomes a parameter, whatever its text is', () => {
  const name = `x'; DROP TABLE users; --`
  assert.deepEqual(spelled(sql`SELECT 1 WHERE name = ${name} AND count = ${3}`), [
    'SELECT 1 WHERE name = ? AND count = ?',
    [name, 3],
  ])
  assert.deepEqual(spelled(sql`${null}`), ['?', [null]])
})

test('a fragment becomes part of the statement, with its values in place', () => {
  const scope = sql`user_id = ${uuid('ada')} AND ${raw('added_at')} < ${at(7)}`
  const query = sql`SELECT ${1} FROM keys WHERE ${scope}${sql``} LIMIT ${2}`
  assert.deepEqual(spelled(query), [
    'SELECT ? FROM keys WHERE user_id = ? AND added_at < ? LIMIT ?',
    [1, { type: 'uuid', value: 'ada' }, { type: 'instant', value: 7 }, 2],
  ])
  assert.equal(query.texts.length, query.values.length + 1)
})
