import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type OpenDatabase, sqliteDatabase } from '../../fixtures/dashboard.ts'
import {
  assertAudited,
  type Entry,
  entriesOf,
  SETUP_ENTRIES,
} from '../../reliability/fault-injection/scenes/audited.ts'
import {
  openScene,
  openSetup,
  type Scene,
} from '../../reliability/fault-injection/scenes/dashboard-scene.ts'
import {
  changingVisits,
  passwordVisits,
  setupVisits,
} from '../../reliability/fault-injection/scenes/visits.ts'
import type { Visit } from '../../reliability/fault-injection/scenes/visit.ts'
import { shapeOf } from '../../reliability/fault-injection/shape.ts'

/*
 * The audit log, for every route that changes something. The fault injection tests that no route is
 * missing.
 */

/** Time between two visits, in which the user's token bucket fills up. */
const REST_MS = 20_000
const LATE_MS = 700_000

type Visited = Pick<Scene, 'dashboard' | 'tables'> & Partial<Scene>

/** A visit, and the entries that it leaves in the audit log. */
interface Act {
  scene: Visited
  visit: Visit
  entries: readonly Entry[]
}

test('each request that changes something writes its entry to the audit log', async (t) => {
  for (const { scene, visit, entries } of await allActs(t)) {
    await scene.tables.restore()
    const before = await scene.tables.dump()
    const { status, body } = await answerTo(scene, visit)
    assert.equal(status, visit.status, `${visit.name}: ${body}`)
    const after = await scene.tables.dump()
    assertAudited(shapeOf(before, before), shapeOf(after, before), entries, visit.name)
    const known = new Set(before.get('audit_log'))
    for (const row of after.get('audit_log') ?? []) {
      if (known.has(row)) continue
      const { address, user_id } = JSON.parse(row)
      const isOfOperator = visit.name.includes('/operator/') && user_id !== scene.user?.id
      assert.equal(address, isOfOperator ? 'operator page' : '127.0.0.1', visit.name)
    }
    assert.deepEqual(scene.dashboard.faults, [], visit.name)
  }
})

test('if the audit log is full, an act fails and changes nothing', async (t) => {
  const paths: string[] = []
  const acts = await allActs(t, async (inner) => {
    const database = await sqliteDatabase(inner)
    paths.push(database.path)
    return database
  })
  for (const path of paths) {
    const database = new DatabaseSync(path)
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON audit_log
      WHEN (SELECT count(*) FROM audit_log) >= ${countEntries(database)}
      BEGIN SELECT RAISE(ABORT, 'the log is full'); END`)
    database.close()
  }
  for (const { scene, visit, entries } of acts) {
    if (entries.length === 0) continue
    await scene.tables.restore()
    const before = await lasting(scene)
    scene.dashboard.faults.length = 0
    const { status } = await answerTo(scene, visit)
    assert.equal(status, visit.name === 'a wrong password' ? 401 : 503, visit.name)
    assert.match(String(scene.dashboard.faults[0]), /the log is full/, visit.name)
    assert.deepEqual(await lasting(scene), before, visit.name)
  }
})

/** All tables but those of attempts, which count before an act. */
async function lasting({ tables }: Visited): Promise<Map<string, string[]>> {
  const dump = await tables.dump()
  dump.delete('sign_in_attempts')
  return dump
}

function countEntries(database: DatabaseSync): number {
  const [row] = database.prepare('SELECT count(*) AS entries FROM audit_log').all()
  return Number(row!.entries)
}

async function allActs(t: TestContext, open: OpenDatabase = sqliteDatabase): Promise<Act[]> {
  const scene = await openScene(t, open)
  const setup = await openSetup(t, open)
  const own = [...changingVisits(scene), ...passwordVisits(scene)]
  const ofSetup = setupVisits(setup.token).filter(({ route }) => route.startsWith('post '))
  return [
    ...withEntries(scene, own, entriesOf(scene)),
    ...withEntries(setup, ofSetup, SETUP_ENTRIES),
  ]
}

function withEntries(
  scene: Visited,
  visits: readonly Visit[],
  entries: Readonly<Record<string, readonly Entry[]>>,
): Act[] {
  const names = visits.map(({ name }) => name)
  assert.deepEqual(names.toSorted(), Object.keys(entries).toSorted())
  return visits.map((visit) => ({ scene, visit, entries: entries[visit.name]! }))
}

async function answerTo({ dashboard, ada }: Visited, visit: Visit) {
  const ahead = visit.isLate ? LATE_MS : REST_MS
  dashboard.elapse(ahead)
  const person = visit.isStranger || ada === undefined ? dashboard.visitor() : ada.copy()
  const answer = await visit.visit(person)
  if (visit.isLate) dashboard.elapse(-ahead)
  return answer
}
