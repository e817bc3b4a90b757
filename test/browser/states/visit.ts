import type { TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { presentInstant } from '../../../src/model/instant.ts'
import { startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import { type FullAccount, fillAccount, type People } from './full-account.ts'
import { openWindow, signIn } from '../tab.ts'
import { LATER, type State } from './actions.ts'
import {
  FIRST,
  NEWCOMER,
  NEWCOMER_EMAIL,
  SETUP_TOKEN,
  statesOfFullAccount,
  VISITOR,
} from './list.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Every page of the dashboard in every state, for tests that hold for all of them.
 */

/** Who looks at a state. `later` is the full account, eleven minutes after the sign-in. */
type Viewer = 'first' | 'visitor' | 'newcomer' | 'full' | 'later'

const FRESH_MS = 660_000
/** The age of the rows of a full account, as long in words as any: 45 minutes ago. */
const AGE_MS = 2_700_000

export interface Options {
  window?: BrowserContextOptions
  /** Blocks the scripts, so that the page is the same as for a browser without script. */
  withoutScript?: boolean
  /** The email address of the user who sees full pages. */
  email?: string
  /** What the names in the full account begin with. */
  name?: string
}

/** Calls `check` in each state, with a title for its messages. */
export async function forEachState(
  t: TestContext,
  browser: Browser,
  { window = {}, withoutScript = false, email = 'ada@example.com', name = 'Cobblestone' }: Options,
  check: (page: Page, title: string) => Promise<void>,
): Promise<void> {
  const empty = await startDashboard(t)
  await recordsOf(empty.store).keepSecret('setup', SETUP_TOKEN)
  const siteUrl = 'https://example.com'
  const dashboard = await startDashboard(t, { operators: [email], siteUrl })
  const { user } = await dashboard.signedIn(email)
  const account = await fillAccount(dashboard, user.id, name)
  const people = await addPeople(dashboard, user.id, account, name, email)

  const lists: [Viewer, State[]][] = [
    ['first', FIRST],
    ['visitor', VISITOR],
    ['newcomer', NEWCOMER],
    ['full', statesOfFullAccount({ ...account, ...people })],
    ['later', LATER],
  ]
  for (const [viewer, states] of lists) {
    const { context, page } = await openWindow(t, browser, window)
    if (withoutScript) await context.route('**/assets/*.js', (route) => route.abort())
    const { url } = viewer === 'first' ? empty : dashboard
    if (viewer === 'full') dashboard.elapse(AGE_MS)
    if (viewer === 'newcomer') await signIn(page, dashboard, NEWCOMER_EMAIL)
    if (viewer === 'full' || viewer === 'later') await signIn(page, dashboard, email)
    if (viewer === 'later') dashboard.elapse(FRESH_MS)
    for (const { path, act } of states) {
      await page.goto(`${url}/${path}`)
      await act?.(page)
      await check(page, `${path} of ${viewer}${act === undefined ? '' : `: ${act.name}`}`)
    }
    await context.close()
  }
}

/** Other members, and an organization of theirs. */
async function addPeople(
  { store, signedIn }: TestDashboard,
  userId: string,
  { organization }: FullAccount,
  name: string,
  email: string,
): Promise<People> {
  const { user } = await signedIn(NEWCOMER_EMAIL)
  const now = presentInstant()
  let member = ''
  for (const other of ['carl@example.com', 'dora@example.com']) {
    const { user: joining } = await signedIn(other)
    member = joining.id
    await recordsOf(store).addMember(userId, organization, other, operatorAt(now))
  }
  await signedIn('gus@example.com')
  const red = { id: crypto.randomUUID(), slug: 'red-stone', name: `${name} red-stone` }
  await recordsOf(store).insertOrganization(user.id, red, operatorAt(now))
  await recordsOf(store).addMember(user.id, red.id, email, operatorAt(now))
  const empty = crypto.randomUUID()
  await recordsOf(store).insertOrganization(
    userId,
    { id: empty, slug: 'empty', name: `Empty ${name}`.slice(0, 64) },
    operatorAt(now),
  )
  return { member, empty }
}
