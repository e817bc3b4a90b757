import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sqliteDatabase } from '../fixtures/dashboard.ts'
import { visitsOf } from '../reliability/fault-injection/scenes/visits.ts'
import { openStage, type Stage } from './stage.ts'

/** Time before each request, in which the token bucket fills up. */
const REST_MS = 2_000

for (const name of ['scene', 'setup'])
  test(`if the audit log is full, an act fails and changes nothing (${name})`, async (t) => {
    const stage = await openStage(t, name, sqliteDatabase)
    const visits = await visitsOf(stage, (file) => (file === 'setup') === (name === 'setup'))
    fillLog(stage)
    for (const { name: input, status, entries, visit } of visits) {
      if (entries.length === 0) continue
      await stage.tables.restore()
      const before = await lasting(stage)
      stage.dashboard.elapse(REST_MS)
      stage.dashboard.faults.length = 0
      const answer = await visit()
      // A refusal stands without its entry.
      assert.equal(answer.status, status >= 400 ? status : 503, input)
      assert.match(String(stage.dashboard.faults[0]), /the log is full/, input)
      assert.deepEqual(await lasting(stage), before, input)
    }
  })

function fillLog({ database: config }: Stage): void {
  assert.ok(config.engine === 'sqlite')
  const database = new DatabaseSync(config.path)
  database.exec(`CREATE TRIGGER full BEFORE INSERT ON audit_log
    WHEN (SELECT count(*) FROM audit_log) >= ${countEntries(database)}
    BEGIN SELECT RAISE(ABORT, 'the log is full'); END`)
  database.close()
}

function countEntries(database: DatabaseSync): number {
  const [row] = database.prepare('SELECT count(*) AS entries FROM audit_log').all()
  return Number(row!.entries)
}

/** All tables but those of attempts, which count before an act. */
async function lasting({ tables }: Stage): Promise<Map<string, string[]>> {
  const dump = await tables.dump()
  return new Map([...dump].filter(([name]) => name !== 'sign_in_attempts'))
}
