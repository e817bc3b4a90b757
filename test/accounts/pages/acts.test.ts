import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type OpenDatabase, sqliteDatabase } from '../../fixtures/dashboard.ts'
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

/*
 * The audit log, for every route that changes something. The fault injection tests that no route is
 * missing.
 */

/** Time between two visits, in which the user's token bucket fills up. */
const REST_MS = 20_000
const LATE_MS = 700_000

/** The entries of each visit. */
const WRITTEN: Record<string, string[]> = {
  'POST /dashboard/servers/new': ['server registered'],
  'POST /dashboard/servers/:id': ['server changed'],
  'moving a server': ['server changed'],
  'POST /dashboard/servers/change': ['servers unpublished'],
  'deleting a server': ['servers removed'],
  'POST /dashboard/servers/undo': ['servers restored'],
  'POST /dashboard/servers/import': [],
  'POST /dashboard/servers/import/:id': ['servers imported'],
  'POST /dashboard/api': ['key issued'],
  'a key after an old sign-in': ['key issued'],
  'POST /dashboard/api/:id/delete': ['key revoked'],
  'POST /dashboard/api/leaked': ['key revoked', 'key revoked'],
  'POST /sign-in': ['sign-in'],
  'a wrong password': ['sign-in refused'],
  'POST /sign-out': ['sign-out'],
  'POST /sign-up': ['sign-in', 'sign-up'],
  'POST /setup/:token': ['sign-in', 'sign-up'],
  'POST /link/:token': ['sign-in', 'sign-in link used'],
  'POST /dashboard/account/sessions': ['sign-out everywhere'],
  'ending a session': ['session ended'],
  'POST /dashboard/account/email': ['e-mail changed'],
  'POST /dashboard/account/password': ['password changed', 'sign-in'],
  'POST /dashboard/account/delete': ['user removed'],
  'POST /dashboard/organizations': ['organization made'],
  'POST /dashboard/organizations/:id/members': ['invited'],
  'POST /dashboard/organizations/:id/members/withdraw': ['invitation withdrawn'],
  'POST /dashboard/organizations/:id/members/remove': ['member removed'],
  'POST /dashboard/organizations/:id/return': ['servers given back'],
  'POST /dashboard/organizations/:id/accept': ['invitation accepted'],
  'POST /dashboard/organizations/:id/decline': ['invitation declined'],
  'POST /dashboard/organizations/:id/remove': ['organization deleted'],
}

/** An id, ids of which some were restored, an address, or counts. */
const SUBJECT =
  /^(\d+ of )?[0-9a-f-]{36}( [0-9a-f-]{36})*$|^[a-z]+@example\.com$|^\d+ new, \d+ changed, \d+ unchanged$/

type Visited = Pick<Scene, 'dashboard' | 'tables'> & Partial<Scene>

test('each request that changes something writes its entry to the audit log', async (t) => {
  for (const [scene, visit] of await allVisits(t)) {
    await scene.tables.restore()
    const before = await auditLog(scene)
    await make(scene, visit)
    const after = await auditLog(scene)
    const written = after.filter((row) => !before.includes(row)).map((row) => JSON.parse(row))
    const actions: string[] = written.map(({ action }) => action)
    assert.deepEqual(actions.toSorted(), WRITTEN[visit.name], visit.name)
    for (const { user_id, subject, address } of written) {
      assert.equal(address, '127.0.0.1')
      assert.match(String(user_id), /^[0-9a-f-]{36}$/, visit.name)
      assert.match(subject, SUBJECT, visit.name)
    }
    assert.deepEqual(scene.dashboard.faults, [], visit.name)
  }
})

test('if the audit log is full, an act fails and changes nothing', async (t) => {
  const paths: string[] = []
  const visits = await allVisits(t, async (inner) => {
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
  for (const [scene, visit] of visits) {
    if (WRITTEN[visit.name]!.length === 0) continue
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

async function allVisits(
  t: TestContext,
  open: OpenDatabase = sqliteDatabase,
): Promise<[Visited, Visit][]> {
  const scene = await openScene(t, open)
  const setup = await openSetup(t, open)
  const visits: [Visited, Visit][] = [...changingVisits(scene), ...passwordVisits(scene)].map(
    (visit) => [scene, visit],
  )
  for (const visit of setupVisits(setup.token))
    if (visit.route.startsWith('post ')) visits.push([setup, visit])
  const names = visits.map(([, { name }]) => name)
  assert.deepEqual(names.toSorted(), Object.keys(WRITTEN).toSorted())
  return visits
}

/** Restores the initial tables, then makes the visit. */
async function make(scene: Visited, visit: Visit): Promise<void> {
  await scene.tables.restore()
  const { status, body } = await answerTo(scene, visit)
  assert.equal(status, visit.status, `${visit.name}: ${body}`)
}

async function answerTo({ dashboard, ada }: Visited, visit: Visit) {
  const ahead = visit.isLate ? LATE_MS : REST_MS
  dashboard.elapse(ahead)
  const person = visit.isStranger || ada === undefined ? dashboard.visitor() : ada.copy()
  const answer = await visit.visit(person)
  if (visit.isLate) dashboard.elapse(-ahead)
  return answer
}

async function auditLog({ tables }: Visited): Promise<string[]> {
  return (await tables.dump()).get('audit_log') ?? []
}
