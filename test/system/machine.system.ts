import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { lastFirst } from '../history/ends.ts'
import { makeClock, removeNamesOf } from '../history/set-clock.ts'
import { canMountDisks, mountSmallDisk } from '../history/small-disk.ts'

/*
 * The faults of the machine are what they are called: else the nemesis would find nothing wrong because nothing was.
 */

const SHOWS_CLOCKS = `
  process.on('message', () => process.send([Date.now(), performance.now()]))
`

test('a clock that is set moves by that, and the monotonic one does not', async (t) => {
  const clock = makeClock(t)
  const child = fork('-', { execArgv: ['-e', SHOWS_CLOCKS], env: clock.env })
  t.after(() => {
    child.kill('SIGKILL')
    removeNamesOf(child.pid!)
  })
  const read = async () => {
    child.send('')
    const [[wall, monotonic]] = (await once(child, 'message')) as [[number, number]]
    return { wall, monotonic, atMost: Date.now() }
  }
  const before = await read()
  for (const [seconds, total] of [
    [-7, -7],
    [15, 8],
  ] as const) {
    clock.step(seconds)
    const after = await read()
    const elapsed = after.monotonic - before.monotonic
    assert.ok(elapsed >= 0 && elapsed <= after.atMost - before.wall + 1, `${elapsed} ms elapsed`)
    const moved = after.wall - before.wall - elapsed
    assert.ok(Math.abs(moved - total * 1_000) <= 3_000, `moved by ${moved} ms`)
  }
})

test('a full disk takes nothing, nor does a file that is protected, and both do again', (t) => {
  if (!canMountDisks()) return t.diagnostic('not shown: this machine lets nobody mount a disk')
  const disk = mountSmallDisk(lastFirst(t), 8)
  const file = openSync(join(disk.folder, 'file'), 'w')
  t.after(() => closeSync(file))
  const page = Buffer.alloc(4_096)
  const write = () => writeSync(file, page)
  write()
  disk.fill()
  assert.throws(write, { code: 'ENOSPC' })
  disk.empty()
  write()
  disk.protect(/^file$/)
  assert.throws(write, { code: 'EPERM' })
  disk.unprotect()
  write()
})
