import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { lastFirst } from './battlefield/ends.ts'
import { type Commit, withEffect } from './faults/fault.ts'
import { runNemesis } from './nemesis.ts'
import { startOtherProcess } from './traffic/other-process.ts'
import { openSqliteBattlefield } from './battlefield/sqlite-battlefield.ts'

/*
 * If a fault can't be committed, the run ends with the error of that fault. No part of the run
 * continues after the failed test, where it would hide the cause.
 */

const ENDLESS =
  'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
const CAUSE = 'the fault could not be committed'
/** Longer than the longest pause of any client. */
const AFTERWARDS_MS = 1_600

test('a run ends with the error of the fault that could not be committed', async (t) => {
  const battlefield = await openSqliteBattlefield(lastFirst(t))
  let recorded: readonly unknown[] = []
  const fail: Commit = async (_random, { operations }) => {
    recorded = operations
    await delay(300)
    throw new Error(CAUSE)
  }
  const groups = [withEffect({ failures: [] }, { broken: fail })]
  const run = runNemesis({ ...battlefield, groups }, { seed: 1, ms: 5_000, pauseMs: 100 })
  await assert.rejects(run, { message: CAUSE })
  const count = recorded.length
  assert.ok(count > 10, `${count} operations`)
  await delay(AFTERWARDS_MS)
  assert.equal(recorded.length, count)
})

test('a call to the process beside the services fails once that process has ended', async (t) => {
  const other = await startOtherProcess(`sqlite:${temporaryFolder(t)}/listing.db`)
  const underway = other.execute(ENDLESS)
  await Promise.all([other.close(), assert.rejects(underway)])
  await assert.rejects(other.listApiKeys('no such user'), /has ended/)
})
