import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { openFirefox } from '../../fixtures/firefox.ts'
import { ask } from '../../fixtures/requests.ts'

/*
 * The way of `browser/whole-way.test.ts` once more, in Debian's Firefox.
 */

for (const javaScriptEnabled of [true, false])
  test(`in Firefox, a user signs up, registers a server, issues a key, uses it and deletes it; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const { url, apiPort, faults } = await startDashboard(t)
    const page = await openFirefox(t, { javaScriptEnabled })
    await page.goto(url)
    await page.click('text=Create one')
    await page.arrives('/sign-up')
    await page.type('#email', 'ada@example.com')
    await page.type('#password', PASSWORD)
    await page.click('text=Create account')
    await page.arrives('/dashboard/start')

    await page.click('text=Register a server')
    await page.arrives('/dashboard/servers/new')
    await page.type('#name', 'Cobblestone Commons')
    await page.type('#address', 'play.example.com:25570')
    await page.click('text=Register')
    await page.sees('Cobblestone Commons')

    await page.click('text=API keys')
    await page.arrives('/dashboard/api')
    await page.type('#name', 'Discord bot')
    if (javaScriptEnabled) await page.sees('11 of 64 characters')
    await page.click('text=Issue key')
    const key = await page.textOf('#key')
    assert.match(key, /^svc_live_[0-9a-f]{64}$/)
    const answer = await ask(apiPort, { key })
    assert.equal(answer.status, 200)
    assert.equal(JSON.parse(answer.body).servers[0].slug, 'cobblestone-commons')

    await page.click('text=Done')
    await page.sees('1 answered')
    await page.click('text=Delete…')
    await page.sees('Delete the key Discord bot')
    await page.click('main button')
    await page.sees('Requests with it now get a 401')
    assert.equal((await ask(apiPort, { key })).status, 401)
    assert.deepEqual(faults, [])
  })
