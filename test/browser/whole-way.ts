import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OpenDatabase, PASSWORD, startDashboard } from '../fixtures/dashboard.ts'
import { ask } from '../fixtures/requests.ts'
import { type Launched, openWindow } from './tab.ts'

/** From no account to a deleted key, as a person goes it. */
export function wholeWay(open: OpenDatabase, launched: Launched): void {
  for (const javaScriptEnabled of [true, false])
    test(`sign up, register, issue, call the API, see it used, delete, 401; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
      const { url, apiPort, faults } = await startDashboard(t, open)
      const { page, troubles } = await openWindow(t, launched(), { javaScriptEnabled })
      await page.goto(url)
      await page.click('text=Make one')
      await page.fill('#email', 'ada@example.com')
      await page.fill('#password', PASSWORD)
      await page.click('text=Make the account')
      await page.waitForURL(`${url}/dashboard/servers`)

      await page.click('text=Register a server')
      await page.fill('#name', 'Cobblestone Commons')
      if (javaScriptEnabled)
        assert.equal(await page.getAttribute('#slug', 'placeholder'), 'cobblestone-commons')
      await page.fill('#address', 'play.example.com:25570')
      await page.click('main button:has-text("Register")')
      assert.match(await page.innerText('main'), /The server is registered/)

      await page.click('nav >> text=API keys')
      await page.fill('#name', 'Discord bot')
      if (javaScriptEnabled) assert.match(await page.innerText('main'), /11 of 64 characters/)
      await page.click('text=Issue the key')
      const key = await page.innerText('#key')
      assert.match(key, /^svc_live_[0-9a-f]{64}$/)
      const answer = await ask(apiPort, { key })
      assert.equal(answer.status, 200)
      assert.equal(JSON.parse(answer.body).servers[0].slug, 'cobblestone-commons')

      await page.click('text=I have it')
      assert.match(await page.innerText('.cards'), /Last used\s+\d{4}-\d\d-\d\d/)
      assert.match(await page.innerText('.cards'), /1 answered/)
      await page.click('.cards a.danger')
      assert.match(await page.innerText('main'), /Delete the key Discord bot/)
      await page.click('main button')
      assert.equal((await ask(apiPort, { key })).status, 401)
      assert.match(await page.innerText('main'), /The key is deleted/)
      assert.deepEqual([troubles, faults], [[], []])
    })

  test('everything is reached by keyboard, beginning with the way past the header', async (t) => {
    const dashboard = await startDashboard(t, open)
    await dashboard.signedIn('ada@example.com')
    const { page } = await openWindow(t, launched())
    await page.goto(`${dashboard.url}/sign-in`)
    await page.keyboard.press('Tab')
    assert.equal(await page.innerText(':focus'), 'Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type('ada@example.com')
    await page.keyboard.press('Tab')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${dashboard.url}/dashboard/api`)
    await page.focus('#name')
    await page.keyboard.type('by keyboard')
    await page.keyboard.press('Enter')
    assert.match(await page.innerText('#key'), /^svc_live_/)
  })
}
