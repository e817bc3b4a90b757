import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PASSWORD, startDashboard } from '../fixtures/dashboard.ts'
import { postgresDatabase } from '../fixtures/postgres/config.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { ask } from '../fixtures/requests.ts'

/*
 * One walk through all sections on PostgreSQL. The other files here use SQLite, because
 * test/contract/ compares the engines.
 */

let server: Server

before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('two users walk through every section of the dashboard on PostgreSQL', async (t) => {
  const database = await postgresDatabase(server)
  const { apiPort, visitor, faults } = await startDashboard(t, { database })
  const [ada, bob] = [visitor(), visitor()]
  for (const [person, email] of [
    [ada, 'ada@example.com'],
    [bob, 'bob@example.com'],
  ] as const)
    await person.submit('/sign-up', { email, password: PASSWORD })

  const fields = { name: 'Cobblestone', address: 'play.example.com', edition: 'java' }
  const registered = await ada.submit('/dashboard/servers/new', {
    ...fields,
    status: 'published',
    form: 'one',
  })
  assert.match(registered.body, /<bdi>Cobblestone<\/bdi><\/b> was added/)

  const key = await ada.issue('bot')
  const { status, body } = await ask(apiPort, { key })
  assert.equal(status, 200)
  assert.equal(JSON.parse(body).servers[0].slug, 'cobblestone')
  assert.match((await ada.get('/dashboard/api')).body, /<b>1<\/b> answered/)

  const guild = { name: 'Guild', slug: 'guild' }
  const made = await ada.post('/dashboard/organizations', guild)
  const path = /^\/dashboard\/organizations\/[0-9a-f-]{36}/.exec(String(made.headers.location))![0]
  await ada.submit(`${path}/members`, { email: 'bob@example.com' })
  assert.match((await bob.get('/dashboard/servers')).body, /<bdi>Guild<\/bdi> invited you/)
  await bob.submit(`${path}/accept`)
  assert.match((await ada.get(`${path}/members`)).body, /<bdi>bob@example\.com<\/bdi>/)

  const leaked = await ada.submit('/dashboard/api/leaked', { leaked: `in a log: ${key}` })
  assert.match(leaked.body, /<bdi>bot<\/bdi><\/b> was deleted\./)
  assert.equal((await ask(apiPort, { key })).status, 401)

  const password = 'another long password'
  const change = { password: PASSWORD, 'new-password': password }
  assert.match((await ada.submit('/dashboard/account/password', change)).body, /Password changed/)
  assert.equal((await ada.post('/sign-out')).status, 303)
  assert.equal((await ada.signIn('ada@example.com', password)).status, 303)
  assert.deepEqual(faults, [])
})
