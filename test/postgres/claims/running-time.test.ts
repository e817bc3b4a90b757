import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runningMs } from './running-time.ts'

test('the running time leaves out a pause of the machine, but no work', () => {
  const begun = runningMs()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000)
  const paused = runningMs()
  assert.ok(paused - begun < 1_000, `${paused - begun} ms in a pause of 2 s`)
  const before = process.cpuUsage()
  for (let done = 0; done < 500; ) {
    for (let step = 0; step < 1e7; step += 1);
    const { user, system } = process.cpuUsage(before)
    done = (user + system) / 1_000
  }
  const worked = runningMs() - paused
  // V8's other threads use processors at the same time.
  assert.ok(worked >= 400, `${worked} ms in half a second of work`)
})
