import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readBootId, systemClock } from '../../src/sqlite/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { ROOT } from '../fixtures/tree.ts'

/*
 * The clock of the machine, which every other test replaces by one that it moves itself.
 */

const TELL_MONOTONIC = `
  import { systemClock } from ${JSON.stringify(join(ROOT, 'src/sqlite/clock.ts'))}
  process.stdout.write(String(systemClock.monotonic()))`

test('what decides is whole microseconds, and the same for every process of the machine', () => {
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
  // Each of the four readings is cut to a microsecond.
  const elapsed = after - before
  assert.ok(inside - 2 <= elapsed && elapsed <= around + 2, `${inside}, ${elapsed}, ${around}`)
})

test('what is shown as the last use is the wall clock', () => {
  const before = Date.now() * 1_000
  const present = systemClock.present()
  assert.ok(before <= present && present < (Date.now() + 1) * 1_000)
})

test('a boot is known by what the system calls it; where it says nothing, by nothing', (t) => {
  const name = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 36)
  assert.match(name, /^[0-9a-f-]{36}$/)
  assert.equal(systemClock.bootId, name)
  assert.equal(readBootId(join(temporaryFolder(t), 'none')), null)
})
