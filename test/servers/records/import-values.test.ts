import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW, plan, short, stored } from './planned.ts'

test('a newer instant of an entry counts, an older one does not, and a changed server changes now', () => {
  const instants = ([4, 5, 6] as const).map(
    (instant) => planAt(instant, '2').changed[0]!.row.updated_at,
  )
  assert.deepEqual(instants, [NOW, NOW, 6])
  assert.deepEqual(short(planAt(5)), { unchanged: ['a'] })
  assert.deepEqual(short(planAt(6)), { changed: [['a', 'updated_at']] })
  assert.deepEqual(short(planAt(4)), { unchanged: ['a'] })
})

test('a new status or edition that is a known one in another case is wrong', () => {
  const entry = { name: 'a', address: 'a.example.com', status: 'Published', edition: 'JAVA' }
  assert.deepEqual(short(plan([], entry)).wrong, [
    'row 2: "edition" must be written "java": "JAVA"',
    'row 2: "status" must be written "published": "Published"',
  ])
  // Another program may have written it.
  const known = stored('a', { status: 'Published', edition: 'JAVA' })
  assert.deepEqual(short(plan([known], entry)), { unchanged: ['a'] })
})

function planAt(updated_at: number, version?: string) {
  return plan([stored('a', { updated_at: 5 })], {
    name: 'a',
    address: 'a.example.com',
    updated_at,
    ...(version === undefined ? {} : { version }),
  })
}
