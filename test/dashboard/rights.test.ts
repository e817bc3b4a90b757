import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ENTRY, startDashboard } from '../fixtures/dashboard.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * What test/records says of each form's rights is not repeated here.
 */

test('a form acts for the signed-in user, whatever user it names', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { user: ada } = await signedIn('ada@example.com')
  const { person, user: bob } = await signedIn('bob@example.com')
  const forged = { userId: ada.id, user_id: ada.id, created_by: ada.id, id: randomUUID() }
  await person.post('/dashboard/api', { ...forged, form: 'f', name: 'bot' })
  await person.post('/dashboard/servers/new', { ...forged, ...ENTRY, form: 'f' })
  assert.deepEqual(await recordsOf(store).listApiKeys(ada.id), [])
  assert.deepEqual(await recordsOf(store).listServers(ada.id), [])
  assert.equal((await recordsOf(store).listApiKeys(bob.id)).length, 1)
  assert.equal((await recordsOf(store).listServers(bob.id)).length, 1)
})

test('a malformed id gets the same answer as an unknown id', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const missing = await person.get(`/dashboard/servers/${randomUUID()}`)
  for (const id of ['x', '0', "' OR 1=1 --", '%00', '%F0%9F%90%88', 'a'.repeat(2_000)])
    for (const path of [
      `/dashboard/servers/${encodeURI(id)}`,
      `/dashboard/api/${encodeURI(id)}/delete`,
    ]) {
      const { status, body } = await person.get(path)
      assert.deepEqual([status, withoutMark(body)], [404, withoutMark(missing.body)], path)
    }
})

/** The page without the mark of its section, which differs between the paths. */
const withoutMark = (body: string) => body.replaceAll(' aria-current="page"', '')
