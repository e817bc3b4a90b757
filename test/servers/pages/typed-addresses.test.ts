import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { operatorAt } from '../../../src/model/audit.ts'
import { confirm } from '../../fixtures/checked-import.ts'
import { ENTRY, startDashboard } from '../../fixtures/dashboard.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Addresses as people type them, in the form and in an import.
 */

const TYPED = ['https://play.example.com/', 'minecraft://play.example.com', 'play.example.com/']

test('the form keeps what was typed if there is no address in it', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const address = 'https://play.example.com/join'
  const form = { ...ENTRY, form: 'f', name: 'kept "name"', address }
  const refused = await person.post('/dashboard/servers/new', form)
  assert.equal(refused.status, 422)
  assert.match(refused.body, /id="address-error">The address must be a domain or an IP/)
  assert.ok(refused.body.includes(`value="${address}"`))
  assert.ok(refused.body.includes('value="kept &quot;name&quot;"'))
  assert.deepEqual(await recordsOf(store).listServers(user.id), [])
})

test('a stored address with a dot at its end stays, in the form and in an import of the export', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const id = randomUUID()
  const address = 'play.example.com.'
  const rest = { slug: null, version: null, listing_kind: null, organization_id: null }
  await recordsOf(store).insertServer(user.id, id, { ...ENTRY, ...rest, address }, operatorAt(1))
  const { body } = await person.submit(`/dashboard/servers/${id}`, {
    ...ENTRY,
    name: 'Renamed',
    address,
  })
  assert.match(body, /was saved\./)
  assert.doesNotMatch(body, /shortened/)
  const text = (await person.get('/dashboard/servers/export.csv')).body
  const sent = await person.upload('/dashboard/servers/import', { text })
  assert.match(sent.body, /Your servers already have these values\./)
  const [stored] = await recordsOf(store).listServers(user.id)
  assert.equal(stored!.address, address)
})

test('an import shortens addresses, also before it joins a port, and the check says so', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const rows = TYPED.map((address, index) => `n${index},${address},,n${index}`)
  const text = `name,address,port,slug\n${rows.join('\n')}\njoined,https://joined.example.com/,25570,\nplain,plain.example.com,,\n`
  const sent = await person.upload('/dashboard/servers/import', { text })
  assert.match(
    sent.body,
    /The import shortens 4 addresses by a scheme such as https:\/\/ or a slash\./,
  )
  await confirm(person, sent.body)
  const stored = await recordsOf(store).listServers(user.id)
  assert.deepEqual(stored.map(({ address }) => address).toSorted(), [
    'joined.example.com:25570',
    'plain.example.com',
    'play.example.com',
    'play.example.com',
    'play.example.com',
  ])
  const wrong = await person.upload('/dashboard/servers/import', {
    text: 'name,address\na,https://play.example.com/join\n',
  })
  assert.match(
    textOf(wrong.body),
    /row 2: "address" must be .*: "https:\/\/play\.example\.com\/join"/,
  )
})

function textOf(body: string): string {
  return body.replace(/<[^>]*>/g, '').replaceAll('&quot;', '"')
}
