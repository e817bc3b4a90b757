import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatchTimer } from '../../../src/sqlite/claims/slow-batches.ts'

test('a batch slower than 250 ms is logged with its slow part, once per minute', () => {
  const told: string[] = []
  let now = 0
  const timer = createBatchTimer(
    (fault) => told.push(String(fault)),
    () => now,
  )
  const batch = (calls: number, reading: number, committing: number) => {
    timer.begin()
    now += reading
    timer.commit()
    now += committing
    timer.end(calls)
  }
  batch(1, 250, 0)
  batch(1, 0, 250)
  assert.deepEqual(told, [])
  batch(12, 1, 4_000)
  batch(12, 1, 4_000)
  now += 55_000
  batch(12, 1, 4_000)
  assert.deepEqual(told.splice(0), [
    'SlowBatch: 12 requests took 4001 ms, 4000 ms of it to commit: the disk is slow to take what is written; all other requests waited',
  ])
  now += 60_001
  batch(1, 300, 1)
  assert.deepEqual(told, [
    'SlowBatch: 1 request took 301 ms, 300 ms of it to read: the disk is slow, or the processor is taken by others; all other requests waited',
  ])
})

test('a batch that failed before its commit is logged with the time it took', () => {
  const told: string[] = []
  let now = 0
  const timer = createBatchTimer(
    (fault) => told.push(String(fault)),
    () => now,
  )
  timer.begin()
  now += 900
  timer.end(2)
  assert.match(told.join(), /2 requests took 900 ms, 900 ms of it to read/)
})

test('a slow checkpoint is logged like a slow batch', () => {
  const told: string[] = []
  let now = 0
  const timer = createBatchTimer(
    (fault) => told.push(String(fault)),
    () => now,
  )
  for (const took of [250, 4_000, 4_000]) {
    timer.begin()
    now += took
    timer.endCheckpoint()
  }
  assert.deepEqual(told, [
    'SlowBatch: copying the write-ahead log into the file took 4000 ms: the disk is slow to take what is written; all requests waited',
  ])
})
