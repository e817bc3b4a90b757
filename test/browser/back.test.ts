import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, startDashboard } from '../fixtures/dashboard.ts'
import { fillAccount } from './states/full-account.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'

/*
 * Reloading, going back and going forward after a form.
 */

const EMAIL = 'ada@example.com'

const launched = launchForFile()

for (const javaScriptEnabled of [true, false])
  test(`after each form, no reload, no way back and no way forward sends it again; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const dashboard = await startDashboard(t)
    const { person, user } = await dashboard.signedIn(EMAIL)
    const { user: member } = await dashboard.signedIn('eve@example.com')
    const { server, key, organization } = await fillAccount(dashboard, user.id)
    const leaked = await person.issue('leaked')
    const { page, troubles } = await openWindow(t, launched(), { javaScriptEnabled })
    await signIn(page, dashboard, EMAIL)
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url())
    })
    const send = async (
      path: string,
      fields: Record<string, string>,
      button: string,
      says: string,
    ) => {
      await page.goto(`${dashboard.url}/dashboard/${path}`)
      for (const summary of await page.locator('main summary').all()) await summary.click()
      for (const [id, value] of Object.entries(fields)) await page.fill(`#${id}`, value)
      sent.length = 0
      await page.click(`main ${button}`)
      await page.waitForSelector(`.notice >> text=${says}`)
      assert.match(await page.title(), /\S · .* · Server listing$/, says)
      await page.reload()
      assert.equal(await page.locator(`.notice >> text=${says}`).count(), 0, `${says}, reloaded`)
      await page.goBack()
      await page.goForward()
      assert.equal(sent.length, 1, says)
    }
    const under = `organizations/${organization}`
    const address = { name: 'Typed', address: 'typed.example.com' }
    await send('servers/new', address, '.primary', 'was added')
    await send(`servers/${server}`, { name: 'Renamed' }, '.primary', 'was saved')
    await send('servers', {}, '#b0', 'is now a draft')
    await send(`servers/${server}/delete`, {}, '.danger', 'was deleted')
    await send(under, {}, '#b0', 'is now a draft')
    await send('api', { leaked }, 'button:has-text("Delete leaked keys")', 'was deleted')
    await send(`api/${key}/delete`, {}, '.danger', 'was deleted')
    const guild = { name: 'Red Stone', slug: 'red-stone' }
    await send(
      'organizations',
      guild,
      'button:has-text("Create organization")',
      'Organization created',
    )
    const eve = { email: 'eve@example.com' }
    await send(`${under}/members`, eve, 'button:text-is("Add member")', 'is a member now')
    await send(`${under}/members/${member.id}/remove`, {}, '.danger', 'Member removed')
    const changed = { email: 'lovelace@example.com', 'email-password': PASSWORD }
    await send('account', changed, 'button:has-text("Change email")', 'Email address saved')
    const password = { 'new-password': 'another battery of horses', 'password-password': PASSWORD }
    await send('account', password, 'button:has-text("Change password")', 'Password changed')
    assert.deepEqual([troubles, dashboard.faults], [[], []])
  })
