import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEpisodes } from '../../src/log/episodes.ts'
import { AuthenticationFault } from '../../src/model/faults.ts'

const begin = (id: string) => new AuthenticationFault(`key ${id} is locked`)

test('the faults of an episode are one object, and a minute without a fault ends it', () => {
  let now = 0
  const episodes = createEpisodes(begin, () => now)
  const first = episodes.faultOf('a')
  assert.deepEqual([first.message, first.isLasting], ['key a is locked', true])
  for (now of [60_000, 120_000]) assert.equal(episodes.faultOf('a'), first)
  assert.notEqual(episodes.faultOf('b'), first)
  now += 60_001
  const second = episodes.faultOf('a')
  assert.notEqual(second, first)
  episodes.end('a')
  assert.notEqual(episodes.faultOf('a'), second)
})

test('beyond 1,000 subjects, the one whose last fault is oldest is evicted', () => {
  const episodes = createEpisodes(begin, () => 0)
  const [first, second] = [episodes.faultOf('0'), episodes.faultOf('1')]
  for (let id = 2; id < 1_000; id += 1) episodes.faultOf(`${id}`)
  assert.equal(episodes.faultOf('0'), first)
  episodes.faultOf('1000')
  assert.equal(episodes.faultOf('0'), first)
  assert.notEqual(episodes.faultOf('1'), second)
})
