import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { asAdmin, createDatabase } from '../../../fixtures/postgres/database.ts'
import { openServer } from '../../../fixtures/postgres/server.ts'
import { lastFirst } from '../../history/battlefield/ends.ts'
import { makeClock, makeDatabaseClock, removeNamesOf } from '../../history/faults/set-clock.ts'
import { mountSmallDisk } from '../../history/faults/small-disk.ts'
import { once } from '../../../fixtures/within.ts'

/*
 * The nemesis's faults of the machine really happen. Otherwise it would find no errors because
 * there was no fault.
 */

const SHOWS_CLOCKS = `
  process.on('message', () => process.send([Date.now(), performance.now()]))
`

test('setting a clock moves the wall clock and not the monotonic one', async (t) => {
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

test("setting a database's clock moves the time of its next statement", async (t) => {
  const server = await openServer()
  t.after(() => server.remove())
  const url = await createDatabase(server)
  const clock = await makeDatabaseClock(t, url)
  await asAdmin(url, async (client) => {
    for (const [seconds, total] of [
      [0, 0],
      [-7, -7],
      [15, 8],
    ]) {
      clock.step(seconds!)
      const { rows } = await client.query(`
        SELECT clock_timestamp() - interval '${total} s'
          BETWEEN statement_timestamp() AND clock_of_server() AS is_moved
      `)
      assert.equal(rows[0].is_moved, true, `not moved by ${total} s`)
    }
  })
})

test('a full disk and a protected file refuse writes until they are restored', (t) => {
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
