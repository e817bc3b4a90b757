import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { checkModel } from './check-model.ts'
import { openSqliteEngine } from './sqlite-engine.ts'

/*
 * Checks the model itself: it must find each of these small mistakes in one statement of the
 * engine.
 */

const FLAWS: [flaw: string, from: string, to: string][] = [
  ['servers of the same age in the wrong order', 'updated_at DESC, id DESC', 'updated_at DESC, id'],
  [
    'servers of organizations listed',
    'created_by = ? AND organization_id IS NULL',
    'created_by = ?',
  ],
  ['one server too few', 'DESC LIMIT 100', 'DESC LIMIT 99'],
  ['revoked keys counted', 'user_id = ? AND revoked_at IS NULL', 'user_id = ?'],
  ['the second revocation recorded', 'coalesce(revoked_at, ?)', 'coalesce(?, revoked_at)'],
  [
    'a change of status that updates no instant',
    'SET status = ?, updated_at = ?',
    'SET status = ?, updated_at = coalesce(updated_at, ?)',
  ],
]

/** A fixed seed, so that each mistake is found in every run or in none. */
const SEED = 1
const RUNS = 60

for (const [flaw, from, to] of FLAWS)
  test(`the model notices a mistake: ${flaw}`, async (t) => {
    const { prepare } = DatabaseSync.prototype
    let flawed = 0
    t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
      const changed = exchange(sql, from, to)
      flawed += Number(changed !== sql)
      return prepare.call(this, changed)
    })
    const engine = await openSqliteEngine(t)
    const check = { seed: SEED, runs: RUNS, shrinks: false }
    const { report, runs, faults } = await checkModel(engine, check)
    assert.ok(flawed > 0, 'the statement no longer exists')
    assert.ok(report !== null, 'the model missed the mistake')
    assert.equal(faults, 0)
    t.diagnostic(`in run ${runs}`)
  })

/**
 * Each `?` of `to` becomes the parameter of the same rank in `from`, with its number if it has one.
 */
function exchange(sql: string, from: string, to: string): string {
  const pattern = new RegExp(from.replace(/[()]/g, '\\$&').replaceAll('?', '(\\?\\d*)'))
  return sql.replace(pattern, (_, ...parameters: string[]) =>
    to.replaceAll('?', () => parameters.shift()!),
  )
}
