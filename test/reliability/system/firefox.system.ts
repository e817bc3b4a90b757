import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { openFirefox } from '../../fixtures/browser/firefox.ts'
import { ask } from '../../fixtures/requests.ts'

/*
 * The way of `browser/whole-way.test.ts` once more, and the newest pages, in Debian's Firefox.
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

for (const javaScriptEnabled of [true, false])
  test(`in Firefox, a user imports servers, undoes a change, replaces a key and reads the docs; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const { url, apiPort, faults, signedIn } = await startDashboard(t)
    await signedIn('ada@example.com')
    const page = await openFirefox(t, { javaScriptEnabled })
    await page.goto(`${url}/sign-in`)
    await page.type('#email', 'ada@example.com')
    await page.type('#password', PASSWORD)
    await page.click('main button')
    await page.sees('Three steps')
    await page.click('text=Import servers from JSON or CSV')
    await page.arrives('/dashboard/servers/import')
    await page.type('#text', '[{"name":"Lagoon","address":"a.example"}]')
    await page.click('text=Check')
    await page.sees('1 new')
    await page.click('text=Import 1 server')
    await page.sees('1 new, 0 changed.')
    await page.click('td > button')
    await page.sees('Lagoon is now a draft')
    await page.click('text=Undo')
    await page.sees('Lagoon is as before')

    await page.goto(`${url}/dashboard/api`)
    await page.type('#name', 'Discord bot')
    await page.click('text=Issue key')
    const old = await page.textOf('#key')
    await page.goto(`${url}/dashboard/api`)
    await page.click('text=Replace…')
    await page.sees('You get a new key with the same name')
    await page.click('text=Issue the new key')
    await page.sees('The old key still works')
    const key = await page.textOf('#key')
    for (const each of [old, key]) assert.equal((await ask(apiPort, { key: each })).status, 200)
    await page.goto(`${url}/dashboard/account`)
    await page.sees('This browser')
    await page.click('text=Docs')
    await page.sees('API documentation')
    assert.deepEqual(faults, [])
  })
