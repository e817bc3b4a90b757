import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEpisodes } from '../../src/log/episodes.ts'

test('an episode has one fault, is reported once, and ends after a minute without a fault', () => {
  let now = 0
  const told: string[] = []
  const episodes = createEpisodes<string>(
    (fault) => told.push(fault),
    () => now,
  )
  const meet = (fault: string, subject?: string) => episodes.meet(() => fault, subject)
  assert.equal(episodes.end(), null)
  for (now of [0, 60_000, 120_000]) assert.equal(meet(`at ${now}`), 'at 0')
  assert.equal(meet('of b', 'b'), 'of b')
  assert.equal(meet('of b, too', 'b'), 'of b')
  now += 60_001
  assert.equal(meet('after a minute'), 'after a minute')
  now += 500
  assert.equal(episodes.end(), 500)
  assert.equal(episodes.end(), null)
  assert.equal(meet('after the end'), 'after the end')
  assert.deepEqual(told, ['at 0', 'of b', 'after a minute', 'after the end'])
})

test('beyond 1,000 subjects, the one whose last fault is oldest is evicted', () => {
  const told: string[] = []
  const episodes = createEpisodes<string>(
    (fault) => told.push(fault),
    () => 0,
  )
  const meet = (subject: string) => episodes.meet(() => subject, subject)
  for (let id = 0; id < 1_000; id += 1) meet(`${id}`)
  for (const id of ['0', '1000', '0', '1']) meet(id)
  assert.deepEqual(told.slice(1_000), ['1000', '1'])
})
