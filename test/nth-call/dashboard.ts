import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenDatabase } from '../fixtures/dashboard.ts'
import type { Answer } from '../fixtures/requests.ts'
import { filesIn } from '../fixtures/tree.ts'
import { openScene, openSetup, type Scene } from './dashboard-scene.ts'
import { type Operation, sweep } from './sweep.ts'
import type { Disturbance, Trap } from './trap.ts'
import { changingVisits, passwordVisits, readingVisits, setupVisits, type Visit } from './visits.ts'

/** Every second visit is made so much later, in which a person's budget of requests is whole again. */
const REST_MS = 20_000
/** Longer ago than a sign-in may be for a key to be issued without the password. */
const LATE_MS = 700_000

/** Every route of the dashboard, with each of its calls to the database disturbed in turn. */
export function disturbedVisits<D extends Disturbance>(
  open: OpenDatabase,
  trap: Trap<D>,
  /** For visits that change nothing, for those that do, and for those of them that work on a password. */
  disturbances: Record<'reading' | 'changing' | 'password', readonly D[]>,
): void {
  test('dashboard: a call that fails is an honest page, and what was asked is done whole or not at all', async (t) => {
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
        const calls = await disturb(scene, visits[kind], disturbance)
        const took = Math.round(performance.now() - startedAt)
        t.diagnostic(
          `${visits[kind].length} visits, ${calls} calls ${disturbance.name}: ${took} ms`,
        )
      }
    const visited = [...Object.values(visits).flat(), ...setupVisits('')].map(({ route }) => route)
    assert.deepEqual([...new Set(visited)].toSorted(), routesOfDashboard())
    assert.equal(written.mock.callCount(), 0, 'the library wrote past the log')
  })

  test('dashboard: so is the setup of an installation', async (t) => {
    const scene = await openSetup(t, open)
    const written = t.mock.method(console, 'error')
    for (const disturbance of disturbances.password)
      await disturb(scene, setupVisits(scene.token), disturbance)
    assert.equal(written.mock.callCount(), 0, 'the library wrote past the log')
  })

  async function disturb(
    scene: Pick<Scene, 'dashboard' | 'tables'> & Partial<Scene>,
    visits: readonly Visit[],
    disturbance: D,
  ): Promise<number> {
    let calls = 0
    for (const visit of visits)
      calls += await sweep(operationOf(scene, visit), scene.tables, trap, disturbance)
    return calls
  }
}

/** As they stand in the program, without those of its files. */
function routesOfDashboard(): string[] {
  const routes = filesIn('src/dashboard', '.ts').flatMap(({ text }) =>
    [...text.matchAll(/\bapp\.(get|post)\(\s*'([^']+)'/g)].map(
      ([, method, path]) => `${method} ${path}`,
    ),
  )
  return [...new Set(routes)].toSorted()
}

function operationOf(
  { ada, dashboard }: Pick<Scene, 'dashboard'> & Partial<Scene>,
  { name, status, repeated, isInParts = false, isStranger, isLate, beginsSession, visit }: Visit,
): Operation<Answer> {
  let isRested = false
  return {
    name,
    isInParts,
    following: ['audit_log', ...(beginsSession ? ['sessions'] : [])],
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
      assert.match(main, /<h1>That did not work<\/h1>/)
      assert.doesNotMatch(main, /Error|SQLITE|disk|database|connect|\.[jt]s\b|\n +at /)
    },
  }
}
