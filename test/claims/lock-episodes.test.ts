import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLockEpisodes } from '../../src/claims/lock-episodes.ts'

test('beyond 1,000 locked keys, the least recently seen one is evicted', () => {
  const episodes = createLockEpisodes(
    (id) => `key ${id} is locked`,
    () => 0,
  )
  const [first, second] = [episodes.faultOf('0'), episodes.faultOf('1')]
  for (let id = 2; id < 1_000; id += 1) episodes.faultOf(`${id}`)
  assert.equal(episodes.faultOf('0'), first)
  episodes.faultOf('1000')
  assert.equal(episodes.faultOf('0'), first)
  assert.notEqual(episodes.faultOf('1'), second)
})
