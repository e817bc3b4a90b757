import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { checkModel } from './check-model.ts'
import { openSqliteEngine } from './sqlite-engine.ts'

/*
 * That the model sees: each of these is a slip of the pen in one statement of the engine's, and is found.
 */

const FLAWS: [flaw: string, from: string, to: string][] = [
  [
    'servers as new as each other in the wrong order',
    'updated_at DESC, id DESC',
    'updated_at DESC, id',
  ],
  [
    'servers of organizations listed',
    'created_by = ? AND organization_id IS NULL',
    'created_by = ?',
  ],
  ['one server too many', 'DESC LIMIT 100', 'DESC LIMIT 101'],
  ['revoked keys counted', 'user_id = :user_id AND revoked_at IS NULL', 'user_id = :user_id'],
  ['the second revocation recorded', 'coalesce(revoked_at, ?)', 'coalesce(?, revoked_at)'],
  [
    'a change of status that is no update',
    'status = ?1, updated_at = ?2',
    'status = ?1, updated_at = coalesce(updated_at, ?2)',
  ],
]

/** So that each is found in every run of the tests, or in none. */
const SEED = 1
const RUNS = 60

for (const [flaw, from, to] of FLAWS)
  test(`${flaw}: the model sees it`, async (t) => {
    const { prepare } = DatabaseSync.prototype
    let flawed = 0
    t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
      flawed += Number(sql.includes(from))
      return prepare.call(
        this,
        sql.replace(from, () => to),
      )
    })
    const engine = await openSqliteEngine(t)
    const { report, runs } = await checkModel(engine, { seed: SEED, runs: RUNS, shrinks: false })
    assert.ok(flawed > 0, 'the statement is not there any more')
    assert.ok(report !== null, 'nothing was seen')
    t.diagnostic(`in run ${runs}`)
  })
