import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEpisodes, createReporter } from '../../src/log/episodes.ts'
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

test('a reporter hands over the first fault of an episode, until it ends or for a minute', () => {
  let now = 0
  const told: unknown[] = []
  const reporter = createReporter(
    (fault) => told.push(fault),
    () => now,
  )
  const meet = (fault: number) => reporter.meet(() => fault)
  for (now of [0, 60_000, 120_000]) meet(now)
  assert.deepEqual(told, [0])
  now += 60_001
  meet(1)
  reporter.end()
  meet(2)
  assert.deepEqual(told, [0, 1, 2])
})
