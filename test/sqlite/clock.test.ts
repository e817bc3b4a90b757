import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readBootId, systemClock } from '../../src/sqlite/claims/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { ROOT } from '../fixtures/tree.ts'

/*
 * The clock of the machine. All other tests replace it by one that they move themselves.
 */

const TELL_MONOTONIC = `
  import { systemClock } from ${JSON.stringify(join(ROOT, 'src/sqlite/claims/clock.ts'))}
  process.stdout.write(String(systemClock.monotonic()))`

test('the deciding clock counts whole microseconds and agrees between processes', () => {
  const outer = performance.now()
  const before = systemClock.monotonic()
  const inner = performance.now()
  const args = ['--input-type=module', '-e', TELL_MONOTONIC]
  const elsewhere = Number(execFileSync(process.execPath, args))
  const inside = (performance.now() - inner) * 1_000
  const after = systemClock.monotonic()
  const around = (performance.now() - outer) * 1_000
  for (const stamp of [before, elsewhere, after]) assert.ok(Number.isSafeInteger(stamp))
  assert.ok(before <= elsewhere && elsewhere <= after, `${before}, ${elsewhere}, ${after}`)
  // Each of the four readings is rounded down to a microsecond.
  const elapsed = after - before
  assert.ok(inside - 2 <= elapsed && elapsed <= around + 2, `${inside}, ${elapsed}, ${around}`)
})

test('the last use that the service shows comes from the wall clock', () => {
  const before = Date.now() * 1_000
  const present = systemClock.present()
  assert.ok(before <= present && present < (Date.now() + 1) * 1_000)
})

test("the system's boot id identifies a boot; without one, no boot is known", (t) => {
  const name = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 36)
  assert.match(name, /^[0-9a-f-]{36}$/)
  assert.equal(systemClock.bootId, name)
  assert.equal(readBootId(join(temporaryFolder(t), 'none')), null)
})
