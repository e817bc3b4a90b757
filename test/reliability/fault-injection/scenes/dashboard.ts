import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenDatabase } from '../../../fixtures/dashboard.ts'
import type { Answer } from '../../../fixtures/requests.ts'
import { everyRoute } from '../../../dashboard/every-route.ts'
import { type Entry, entriesOf, SETUP_ENTRIES } from './audited.ts'
import { openScene, openSetup, type Scene } from './dashboard-scene.ts'
import { type Operation, sweep } from '../sweep.ts'
import type { Disturbance, Trap } from '../trap.ts'
import type { Visit } from './visit.ts'
import { changingVisits, passwordVisits, readingVisits, setupVisits } from './visits.ts'

/** Every second visit happens this much later, when the user's request budget has refilled. */
const REST_MS = 20_000
/** An age of a sign-in that requires the password to issue a key. */
const LATE_MS = 700_000

/** All routes of the dashboard, with a fault at each of their calls to the database in turn. */
export function disturbedVisits<D extends Disturbance>(
  open: OpenDatabase,
  trap: Trap<D>,
  /** For visits that change nothing, that change something, and that check or set a password. */
  disturbances: Record<'reading' | 'changing' | 'password', readonly D[]>,
): void {
  test('dashboard: a failed call shows an honest page, and no form is done in part', async (t) => {
    const scene = await openScene(t, open)
    const written = t.mock.method(console, 'error')
    const visits = {
      reading: readingVisits(scene),
      changing: changingVisits(scene),
      password: passwordVisits(scene),
    }
    for (const kind of ['reading', 'changing', 'password'] as const)
      for (const disturbance of disturbances[kind]) {
        const startedAt = performance.now()
        const calls = await disturb(scene, visits[kind], disturbance, entriesOf(scene))
        const took = Math.round(performance.now() - startedAt)
        t.diagnostic(
          `${visits[kind].length} visits, ${calls} calls ${disturbance.name}: ${took} ms`,
        )
      }
    const visited = [...Object.values(visits).flat(), ...setupVisits('')].map(({ route }) => route)
    const routes = everyRoute().map(({ method, path }) => `${method.toLowerCase()} ${path}`)
    assert.deepEqual([...new Set(visited)].toSorted(), [...new Set(routes)].toSorted())
    assert.equal(written.mock.callCount(), 0, 'something was written outside the log')
  })

  test('dashboard: a failed call leaves no setup of an installation done in part', async (t) => {
    const scene = await openSetup(t, open)
    const written = t.mock.method(console, 'error')
    for (const disturbance of disturbances.password)
      await disturb(scene, setupVisits(scene.token), disturbance, SETUP_ENTRIES)
    assert.equal(written.mock.callCount(), 0, 'something was written outside the log')
  })

  async function disturb(
    scene: Pick<Scene, 'dashboard' | 'tables'> & Partial<Scene>,
    visits: readonly Visit[],
    disturbance: D,
    entries: Readonly<Record<string, readonly Entry[]>>,
  ): Promise<number> {
    let calls = 0
    for (const visit of visits) {
      const operation = { ...operationOf(scene, visit), audited: entries[visit.name] ?? [] }
      calls += await sweep(operation, scene.tables, trap, disturbance)
    }
    return calls
  }
}

/** Its answer stands without its entry. */
const isRefusal = (name: string): boolean => name === 'a wrong password'

export function operationOf(
  { ada, dashboard }: Pick<Scene, 'dashboard'> & Partial<Scene>,
  {
    name,
    status,
    repeated,
    isInParts = false,
    isBetween,
    isStranger,
    isLate,
    beginsSession,
    visit,
  }: Visit,
): Operation<Answer> {
  let isRested = false
  return {
    name,
    isInParts,
    ...(isBetween === undefined ? {} : { isBetween }),
    following: beginsSession ? ['audit_log', 'sessions'] : isRefusal(name) ? ['audit_log'] : [],
    async run() {
      isRested = !isRested
      const ahead = (isLate ? LATE_MS : 0) + (isRested ? REST_MS : 0)
      dashboard.elapse(ahead)
      const person = isStranger || ada === undefined ? dashboard.visitor() : ada.copy()
      return visit(person).finally(() => dashboard.elapse(-ahead))
    },
    isDone: (answer) => answer.status === status,
    isRepetition: (answer) => answer.status === repeated,
    assertHonest(answer) {
      assert.equal(answer.status, 503, `${name}: ${answer.body}`)
      assert.match(String(answer.headers['content-security-policy']), /^default-src 'none'; /)
      assert.equal(answer.headers['retry-after'], '5')
      const main = /<main.*<\/main>/s.exec(answer.body)?.[0] ?? ''
      assert.match(main, /<h1>Something went wrong<\/h1>/)
      assert.doesNotMatch(main, /Error|SQLITE|disk|database|connect|\.[jt]s\b|\n +at /)
    },
  }
}
