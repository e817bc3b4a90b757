import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, sqliteDatabase } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import type { Answer } from '../../fixtures/requests.ts'
import { openScene, type Scene } from '../../reliability/fault-injection/scenes/dashboard-scene.ts'
import { afresh, crawl, type Found, rowsOf, send } from './every-form.ts'
import { readForms, unescaped } from './read-forms.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Every form of every page, without a session, with an expired or ended one, and from another site.
 */

const SEVEN_DAYS_MS = 7 * 86_400_000
/** No page repeats these. */
const SECRETS = ['password', 'new-password', 'leaked', 'text']
/** The page after signing in has neither the question of a move nor the notice with an undo. */
const ELSEWHERE = ['/dashboard/servers/change confirmed=moved', '/dashboard/servers/undo change=*']

test('a form whose session has ended changes nothing, and signing in leads back to its page', async (t) => {
  const scene = await openScene(t, sqliteDatabase)
  const { dashboard, user, ada, tables } = scene
  for (const form of await crawl(scene)) {
    if (!form.path.startsWith('/dashboard')) continue
    await afresh(scene, async () => {
      await assertRefused(scene, form, dashboard.visitor())
      dashboard.elapse(SEVEN_DAYS_MS)
      await assertRefused(scene, form, ada.copy())
      dashboard.elapse(-SEVEN_DAYS_MS)
      await recordsOf(dashboard.store).endSessions(user.id, operatorAt(presentInstant()))
      const person = ada.copy()
      const { body } = await assertRefused(scene, form, person)
      const before = rowsOf(await tables.dump(), ['sessions', 'audit_log'])
      await assertBack(person, form, body)
      assert.deepEqual(rowsOf(await tables.dump(), ['sessions', 'audit_log']), before, form.name)
    })
  }
  assert.deepEqual(dashboard.faults, [])
})

async function assertRefused(scene: Scene, form: Found, person: Person): Promise<Answer> {
  const before = await scene.tables.dump()
  const answer = await send(person, form)
  assert.equal(answer.status, 401, form.name)
  assert.match(answer.body, /<title>Error: .*Your session has ended/s, form.name)
  assert.deepEqual(rowsOf(await scene.tables.dump()), rowsOf(before), form.name)
  return answer
}

/** Signs in on the page, and expects the page of the form. */
async function assertBack(person: Person, form: Found, body: string): Promise<void> {
  for (const [name, value] of form.fields)
    if (SECRETS.includes(name)) assert.ok(!body.includes(value), `${form.name} keeps ${name}`)
  const next = unescaped(/name="next" value="([^"]*)"/.exec(body)?.[1] ?? '')
  const { headers } = await person.post('/sign-in', {
    email: 'ada@example.com',
    password: PASSWORD,
    next,
  })
  const page = await person.get(String(headers.location))
  assert.equal(page.status, 200, `${form.name} leads to ${next}`)
  const forms = readForms(page.body)
  const found = forms.find(({ name }) => name === form.name)
  assert.ok(found !== undefined || ELSEWHERE.includes(form.name), `${form.name} leads to ${next}`)
}

test('a form that another site sends changes nothing', async (t) => {
  const scene = await openScene(t, sqliteDatabase)
  const { dashboard, ada, tables } = scene
  for (const form of await crawl(scene))
    await afresh(scene, async () => {
      const before = await tables.dump()
      const person = form.path === '/sign-in' ? dashboard.visitor() : ada.copy()
      const foreign = { 'Sec-Fetch-Site': 'cross-site' }
      const { status, body } = await person.post(
        form.path,
        Object.fromEntries(form.fields),
        foreign,
      )
      assert.equal(status, 403, form.name)
      assert.match(body, /Another site sent this form.*Nothing was changed/s)
      assert.deepEqual(await tables.dump(), before, form.name)
    })
})
