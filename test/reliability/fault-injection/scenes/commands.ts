import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { sweep } from '../sweep.ts'
import type { Tables } from '../tables.ts'
import type { Disturbance, Trap } from '../trap.ts'
import { commandsOfHelp, operationsOf, reasonsOf, restoring } from './every-command.ts'
import { fill, SQLITE } from './filled.ts'
import { commandsOn } from './command.ts'

/** A database, as the commands get it. */
export interface CommandScene {
  url: string
  tables(): Promise<Tables>
}

/**
 * All commands that work on a store, run in this process, with a fault at each database call in
 * turn.
 */
export function disturbedCommands<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('commands: a failed one says so and has done all of its work or none', async (t) => {
    const { url, tables: openTables } = await open(t)
    const filled = await fill(t, url)
    const tables = await openTables()
    t.after(tables.close)
    await tables.remember()
    const tried = operationsOf(filled, url)
    await t.test('each command is among them, or the reason why not is known', async () => {
      const known = [...Object.keys(tried), ...Object.keys(reasonsOf())]
      assert.deepEqual(known.toSorted(byText), (await commandsOfHelp()).toSorted(byText))
    })
    const operations = Object.values(tried).flat()
    for (const disturbance of disturbances) {
      const startedAt = performance.now()
      let calls = 0
      for (const [index, operation] of operations.entries()) {
        // All of them prepare the same statements, so that faults of preparing are tried with one
        // only.
        const leftOut = index === 0 ? [] : ['prepare']
        removeJournal(url)
        calls += await sweep({ ...operation, leftOut }, tables, trap, disturbance)
      }
      const took = Math.round(performance.now() - startedAt)
      t.diagnostic(`${operations.length} commands, ${calls} calls ${disturbance.name}: ${took} ms`)
    }
  })
}

/** The command that replaces the file: its content is that of before or of the backup. */
export function disturbedRestore<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
  stride: number,
): void {
  test('restore: a failed one leaves the database as it was, or restores all of it', async (t) => {
    const { url, tables: openTables } = await open(t)
    const filled = await fill(t, url)
    const tables = await openTables()
    await tables.remember()
    const operation = { ...restoring(filled, url), leftOut: ['prepare'], stride }
    for (const disturbance of disturbances) {
      const calls = await sweep(operation, tables, trap, disturbance)
      t.diagnostic(`${calls} calls ${disturbance.name}`)
    }
  })
}

/** The command that creates the schema: each migration is applied or not. */
export function disturbedMigration<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('migrate: repeated runs complete a migration that failed at any call', async (t) => {
    const { url, tables: openTables } = await open(t)
    const tables = await openTables()
    t.after(tables.close)
    const operation = { ...commandsOn(url)('migrate', { isInParts: true }), leftOut: ['prepare'] }
    for (const disturbance of disturbances) {
      const calls = await sweep(operation, tables, trap, disturbance)
      t.diagnostic(`${calls} calls ${disturbance.name}`)
    }
  })
}

/** Revocations by one command must not decide what another one may add. */
function removeJournal(url: string): void {
  if (url.startsWith(SQLITE)) rmSync(`${url.slice(SQLITE.length)}-revoked`, { force: true })
}

const byText = (one: string, other: string) => (one < other ? -1 : Number(one > other))
