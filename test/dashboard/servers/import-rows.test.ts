import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/listing/instant.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import type { Answer } from '../../fixtures/requests.ts'

/*
 * What the check of an import says about its rows.
 */

const IMPORT = '/dashboard/servers/import'

test('a row that means the server of another one is wrong, in the check and when it is confirmed', async (t) => {
  const { person, store, userId } = await withServers(t)
  const text = 'name,address\nnumber 1,s0.example.com\nother,s0.example.com\nthird,s1.example.com\n'
  const wrong = await person.upload(IMPORT, { text })
  assert.equal(wrong.status, 422)
  assert.match(textOf(wrong.body), /row 3: means the same server as row 2, but has another name\. /)
  assert.match(textOf(wrong.body), /row 4: "name" is "third", but the server .* is "number 2"\. /)
  const entry = { name: 'number 3', address: 's2.example.com' }
  const sent = await person.upload(IMPORT, { text: JSON.stringify([entry]) })
  const path = String(sent.headers.location)
  const plan = planOf((await person.get(path)).body)
  await store.saveServers(userId, null, [{ ...entry, name: 'taken' }], presentInstant())
  const refused = await person.post(path, { plan })
  assert.equal(refused.status, 409)
  assert.match(
    textOf(refused.body),
    /entry 1: "name" is "number 3", but the server .* is "taken"\. /,
  )
  assert.doesNotMatch(refused.body, /name="plan"/)
})

async function withServers(t: Parameters<typeof startDashboard>[0]) {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  const entries = [1, 2].map((number) => ({
    name: `number ${number}`,
    address: `s${number - 1}.example.com`,
  }))
  await dashboard.store.saveServers(user.id, null, entries, presentInstant() - 60_000_000)
  return { ...dashboard, person, userId: user.id }
}

function planOf(body: Answer['body']): string {
  const plan = /name="plan" value="([0-9a-f]{64})"/.exec(body)?.[1]
  assert.ok(plan !== undefined, body)
  return plan
}

function textOf(body: string): string {
  return body.replaceAll(/<[^>]*>/g, '').replaceAll('&quot;', '"')
}
