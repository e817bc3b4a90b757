import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, sqliteDatabase } from '../../fixtures/dashboard.ts'
import {
  openScene,
  openSetup,
  type Scene,
} from '../../reliability/fault-injection/scenes/dashboard-scene.ts'
import { afresh, crawl, rowsOf, send, typeInto } from './every-form.ts'
import { readForms, type Submission } from './read-forms.ts'

/*
 * Every form of every page, sent twice, without its tag and with the tag of another user's form.
 */

/** What a form answers, what it answers when it is sent again, and what the user then reads. */
interface Expected {
  first: number
  again: number
  says: RegExp
  /** Tables that a second form may change. */
  mayChange?: string[]
  /** True if the answer is a page that asks before it changes anything. */
  isQuestion?: boolean
}

const GONE = /Nothing was changed.*no longer/s
const FORMS: Record<string, Expected> = {
  // Each answer needs a session of its own. The account page lists both.
  '/sign-in': { first: 303, again: 303, says: /Survival/, mayChange: ['sessions', 'audit_log'] },
  '/sign-up': {
    first: 303,
    again: 422,
    says: /is taken, or reserved for an operator\. If you just created/,
  },
  '/setup/:token': { first: 303, again: 404, says: /A setup link works only once/ },
  '/link/:token': { first: 303, again: 404, says: /This link no longer works/ },
  '/sign-out': { first: 303, again: 303, says: /Sign in/ },
  '/dashboard/api': { first: 200, again: 409, says: /This form already issued its key/ },
  '/dashboard/api replaces=*': { first: 200, again: 409, says: /already issued its key/ },
  '/dashboard/api/:id': {
    first: 303,
    again: 303,
    says: /The key is now named <b><bdi>Typed/,
  },
  '/dashboard/api/leaked': { first: 303, again: 303, says: /1 key in this text had been deleted/ },
  '/dashboard/api/:id/delete': { first: 303, again: 303, says: /one<\/bdi><\/b> was deleted\./ },
  '/dashboard/servers/new': { first: 303, again: 303, says: /Typed<\/bdi><\/b> was added\./ },
  '/dashboard/servers/:id': { first: 303, again: 303, says: /Typed<\/bdi><\/b> was saved\./ },
  '/dashboard/servers/change to=draft': { first: 303, again: 303, says: /is now a draft\./ },
  '/dashboard/servers/change draft=*': { first: 303, again: 303, says: /is now a draft\./ },
  '/dashboard/servers/change to=deleted': {
    first: 200,
    again: 200,
    says: /Delete <b><bdi>Surv/,
    isQuestion: true,
  },
  '/dashboard/servers/change to=published': {
    first: 303,
    again: 303,
    says: /published already/,
    isQuestion: true,
  },
  '/dashboard/servers/change to=moved': {
    first: 200,
    again: 200,
    says: /Move <b><bdi>Surv/,
    isQuestion: true,
  },
  '/dashboard/servers/change to=moved for sure': {
    first: 303,
    again: 303,
    says: /Survival<\/bdi><\/b> was moved to /,
  },
  '/dashboard/servers/change to=deleted for sure': {
    first: 303,
    again: 303,
    says: /Survival<\/bdi><\/b> was deleted\./,
  },
  '/dashboard/servers/undo change=*': {
    first: 303,
    again: 303,
    says: /Survival<\/bdi><\/b> is back/,
  },
  '/dashboard/servers/import': { first: 303, again: 303, says: /1 new, 0 changed/ },
  '/dashboard/servers/import/:id plan=*': {
    first: 303,
    again: 303,
    says: /Import finished: 1 new/,
  },
  '/dashboard/organizations': { first: 303, again: 303, says: /Typed<\/bdi><\/b> was created\./ },
  '/dashboard/organizations/:id/accept': {
    first: 303,
    again: 303,
    says: /You joined <b><bdi>Other/,
  },
  '/dashboard/organizations/:id/decline': { first: 303, again: 404, says: GONE },
  '/dashboard/organizations/:id/remove': { first: 303, again: 404, says: GONE },
  '/dashboard/organizations/:id/return': {
    first: 303,
    again: 303,
    says: /were returned as drafts/,
  },
  '/dashboard/organizations/:id/members': {
    first: 303,
    again: 303,
    says: /Invitation created/,
    // The second invitation renews the first.
    mayChange: ['invitations', 'audit_log'],
  },
  '/dashboard/organizations/:id/members/:id/withdraw': { first: 303, again: 404, says: GONE },
  '/dashboard/organizations/:id/members/:id/remove': { first: 303, again: 404, says: GONE },
  '/dashboard/account/email': { first: 303, again: 303, says: /Email address saved/ },
  '/dashboard/account/password': { first: 303, again: 401, says: /If you have just changed your/ },
  '/dashboard/account/delete': { first: 200, again: 401, says: /If you have just deleted your/ },
  '/dashboard/account/sessions': { first: 303, again: 401, says: /Your session has ended/ },
  '/dashboard/account/sessions session=*': { first: 303, again: 303, says: /Session ended\./ },
  '/dashboard/operator/users/:id/link': {
    first: 200,
    again: 200,
    says: /Earlier links of this user no longer work\./,
    // Only the link of the last answer works.
    mayChange: ['sign_in_links', 'audit_log'],
  },
  '/dashboard/operator/users/:id/sign-out': { first: 303, again: 303, says: /is signed out every/ },
  '/dashboard/operator/users/:id/disable': { first: 303, again: 303, says: /account is disabled/ },
  '/dashboard/operator/users/:id/enable': { first: 303, again: 303, says: /account is enabled/ },
}

test('the table has every form of every page', async (t) => {
  const forms = await crawl(await openScene(t, sqliteDatabase))
  const setup = await openSetup(t, sqliteDatabase)
  const { body } = await setup.dashboard.visitor().get(`/setup/${setup.token}`)
  const names = [...forms, ...readForms(body)].map(({ name }) => name)
  assert.deepEqual(names.toSorted(), Object.keys(FORMS).toSorted())
})

test('a form that is sent twice changes the records once, and the page says what happened', async (t) => {
  const scene = await openScene(t, sqliteDatabase)
  for (const form of await crawl(scene)) await sendTwice(scene, form)
  assert.deepEqual(scene.dashboard.faults, [])
  const setup = await openSetup(t, sqliteDatabase)
  const page = await setup.dashboard.visitor().get(`/setup/${setup.token}`)
  const [form] = readForms(page.body)
  await sendTwice(setup, { ...form!, fields: typeInto(form!) })
})

/** Sends the form from two copies of a browser: the second does not know the first's answer. */
async function sendTwice(
  scene: Pick<Scene, 'dashboard' | 'tables'> & Partial<Scene>,
  form: Submission,
): Promise<void> {
  const { dashboard, tables, ada } = scene
  const { first, again, says, mayChange, isQuestion } = FORMS[form.name]!
  const isSignedIn = form.path.startsWith('/dashboard') || form.path === '/sign-out'
  const browser = () => (isSignedIn && ada ? ada.copy() : dashboard.visitor())
  await afresh(scene, async () => {
    const before = await tables.dump()
    const sent = await send(browser(), form)
    assert.equal(sent.status, first, `${form.name}: ${sent.body}`)
    const between = await tables.dump()
    if (!isQuestion) assert.notDeepEqual(rowsOf(between), rowsOf(before), form.name)
    const person = browser()
    const repeated = await send(person, form)
    assert.equal(repeated.status, again, `${form.name}, sent again: ${repeated.body}`)
    const after = await tables.dump()
    assert.deepEqual(rowsOf(after, mayChange), rowsOf(between, mayChange), form.name)
    let page = repeated
    while (page.status === 303) page = await person.get(String(page.headers.location))
    assert.match(page.body, says, form.name)
  })
}

test('a form without its tag, or with that of another user’s form, acts', async (t) => {
  const scene = await openScene(t, sqliteDatabase)
  const { dashboard, ada, tables } = scene
  const tagged = (await crawl(scene)).filter(({ fields }) =>
    fields.some(([name]) => name === 'form'),
  )
  assert.ok(tagged.length >= 8, `${tagged.length} forms have tags`)
  for (const form of tagged) {
    const { first } = FORMS[form.name]!
    const without = form.fields.filter(([name]) => name !== 'form')
    await afresh(scene, async () => {
      const { status, body } = await send(ada.copy(), { ...form, fields: without })
      assert.equal(status, first, `${form.name}: ${body}`)
    })
    await afresh(scene, async () => {
      const bob = dashboard.visitor()
      await bob.signIn('bob@example.com', PASSWORD)
      // No two organizations have one slug.
      const theirs = form.fields.filter(([name]) => name !== 'slug')
      await send(bob.copy(), { ...form, fields: [...theirs, ['slug', 'of-bob']] })
      const before = await tables.dump()
      const { status, body } = await send(ada.copy(), form)
      assert.equal(status, first, `${form.name}: ${body}`)
      if (!FORMS[form.name]!.isQuestion) assert.notDeepEqual(await tables.dump(), before, form.name)
    })
  }
  assert.deepEqual(dashboard.faults, [])
})
