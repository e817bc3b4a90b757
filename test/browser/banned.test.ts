import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { runCommand } from '../cli/command.ts'
import { startDashboard } from '../fixtures/dashboard.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { ask } from '../fixtures/requests.ts'
import { addAccount } from '../site/acts.ts'
import { buildSite } from '../site/toy-site.ts'
import { launchForFile, openWindow, signIn, waitForText } from './tab.ts'

/*
 * A user's access, as a site and an operator end it and give it back.
 */

const [DISABLED, BANNED] = ['disabled by an operator', 'banned by the site']

const launched = launchForFile()
let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** A user of a site with a key and a browser, and an operator who looks at the user's page. */
async function openWalk(t: TestContext) {
  const site = await buildSite(t, server)
  const dashboard = await startDashboard(t, {
    database: { engine: 'postgres', url: site.url },
    operators: ['root@example.com'],
  })
  const { url, apiPort, faults } = dashboard
  await dashboard.signedIn('root@example.com')
  const account = await addAccount(site, 'ada@example.com')
  await site.queryAs(
    'listing',
    `INSERT INTO passwords (user_id, hash)
     SELECT users.id, hash FROM passwords, users WHERE external_id IS NOT NULL`,
  )
  const { page: hers, troubles } = await openWindow(t, launched())
  await signIn(hers, dashboard, 'ada@example.com')
  await hers.fill('#name', 'bot')
  await hers.click('text=Issue key')
  const key = await hers.innerText('#key')
  const status = async () => {
    await site.queryAs('listing', 'UPDATE api_keys SET last_used_at = NULL')
    return (await ask(apiPort, { key })).status
  }
  const { page } = await openWindow(t, launched())
  await signIn(page, dashboard, 'root@example.com')
  await page.goto(`${url}/dashboard/operator/users`)
  await page.click('text=ada@example.com')
  /** What the operator's page says of the user's access, without how long ago. */
  const state = async () => {
    await page.reload()
    const words = await page.locator('dd').first().innerText()
    return words.match(/enabled|disabled by an operator|banned by the site/g)
  }
  const confirm = async (button: string) => {
    await page.click(`text=${button}`)
    await page.click('main button')
    await page.waitForURL(/users\/[^/]+$/)
  }
  const write = (change: string) =>
    site.query(`UPDATE accounts SET ${change} WHERE id = $1`, [account])
  const assertCalm = () => assert.deepEqual([troubles, faults], [[], []])
  return { dashboard, site, account, hers, page, state, status, confirm, write, assertCalm }
}

test('a site and an operator end the access of a user, and each takes back only its own', async (t) => {
  const { dashboard, hers, page, state, status, confirm, write, assertCalm } = await openWalk(t)
  assert.deepEqual(await state(), ['enabled'])
  assert.equal(await status(), 200)

  await write('banned_at = now()')
  assert.deepEqual(await state(), [BANNED])
  assert.equal(await status(), 401)
  await hers.reload()
  await hers.waitForURL(/\/sign-in/)
  await confirm('Disable the account…')
  assert.deepEqual(await state(), [DISABLED, BANNED])
  await write('banned_at = NULL')
  assert.deepEqual(await state(), [DISABLED])
  assert.equal(await status(), 401)
  await write('banned_at = now()')
  await confirm('Enable the account…')
  await waitForText(page, /The site’s ban stands/)
  assert.deepEqual(await state(), [BANNED])
  assert.equal(await status(), 401)
  await write('banned_at = NULL')
  assert.equal(await status(), 200)
  await signIn(hers, dashboard, 'ada@example.com')
  await waitForText(hers, /bot/)
  assertCalm()
})

test('a user whom a site and an operator remove comes back without keys', async (t) => {
  const { site, account, page, state, status, confirm, write, assertCalm } = await openWalk(t)
  await confirm('Disable the account…')
  await site.query('DELETE FROM accounts WHERE id = $1', [account])
  assert.deepEqual(await state(), [DISABLED, BANNED])
  assert.equal(await status(), 401)
  await confirm('Enable the account…')
  await site.query(`INSERT INTO accounts (id, mail) OVERRIDING SYSTEM VALUE
    VALUES (${account}, 'ada@example.com')`)
  assert.deepEqual(await state(), ['enabled'])
  assert.equal(await status(), 401)

  const remove = `user remove --external-id ${account} --yes`
  assert.equal((await runCommand(remove, { env: { DATABASE_URL: site.url } })).code, 0)
  await page.reload()
  await waitForText(page, /does not exist/)
  await write('mail = mail')
  assert.equal(await status(), 401)
  assertCalm()
})
