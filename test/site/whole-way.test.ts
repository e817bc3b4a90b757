import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startProvider } from '../fixtures/oidc/provider.ts'
import { startSiteOf } from '../fixtures/oidc/site.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { ask } from '../fixtures/requests.ts'
import { addAccount } from './acts.ts'
import { buildSite } from './toy-site.ts'

/*
 * From an empty PostgreSQL, by docs/site.md, to a user of the site who signs in through the site's
 * provider, issues a key with one click and gets the site's servers.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test("a site's user comes by a link of the site, issues a key and gets the site's servers", async (t) => {
  const toy = await buildSite(t, server)
  const provider = await startProvider(t)
  const account = await addAccount(toy, 'ada@example.com')
  provider.people[account] = { email: 'ada@example.com', email_verified: true }

  const { visitor, apiPort, leave } = await startSiteOf(
    provider,
    t,
    async () => ({ engine: 'postgres', url: toy.url }),
    { provided: { isAutomatic: true }, serversElsewhere: true, siteUrl: 'https://example.com' },
  )
  const person = visitor()
  const asked = await person.get('/dashboard/api?name=Discord%20bot')
  const offered = await person.get(String(asked.headers.location))
  const back = await provider
    .browser()
    .visit(await leave(person, String(offered.headers.location)), account)
  const arrived = await person.get(back)
  const page = await person.get(String(arrived.headers.location))
  assert.match(page.body, /value="Discord bot"/)
  assert.doesNotMatch(page.body, /type="password"/)
  // The one click: the form as the page has it.
  const form = /name="form" value="([^"]+)"/.exec(page.body)![1]!
  const issued = await person.post('/dashboard/api', { form, name: 'Discord bot' })
  const key = /svc_live_[0-9a-f]{64}/.exec(issued.body)![0]

  const namesNow = async () => {
    await toy.queryAs('listing', 'UPDATE api_keys SET last_used_at = NULL')
    const { status, body } = await ask(apiPort, { key })
    const { servers } = JSON.parse(body) as { servers?: { name: string }[] }
    return servers?.map(({ name }) => name) ?? status
  }
  assert.deepEqual(await namesNow(), ['Survival'])
  await toy.query(`UPDATE games SET title = 'Creative' WHERE account_id = $1`, [account])
  assert.deepEqual(await namesNow(), ['Creative'])

  await toy.query('UPDATE accounts SET banned_at = now() WHERE id = $1', [account])
  assert.equal(await namesNow(), 401)
  assert.equal((await person.get('/dashboard/api')).status, 303)
  const again = visitor()
  const refused = await again.get(await provider.browser().visit(await leave(again), account))
  assert.equal(refused.status, 403)
})
