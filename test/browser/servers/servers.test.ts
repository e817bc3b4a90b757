import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import { launchForFile, openWindow, signIn } from '../tab.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Many servers at once: the table, actions with undo, and importing.
 */

const launched = launchForFile()

for (const javaScriptEnabled of [true, false])
  test(`a user finds, unpublishes, deletes and restores servers; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const dashboard = await startDashboard(t)
    const { user } = await fill(dashboard, 150)
    const { page, troubles } = await openWindow(t, launched(), { javaScriptEnabled })
    await signIn(page, dashboard, 'ada@example.com')
    await page.goto(`${dashboard.url}/dashboard/servers`)
    assert.match(await page.innerText('main'), /150 servers · 100 returned by the API/)
    const name = await page.locator('#s0').boundingBox()
    const status = await page.locator('tbody .pill >> nth=0').boundingBox()
    const apart = name!.y + name!.height / 2 - (status!.y + status!.height / 2)
    assert.ok(Math.abs(apart) < 1, `the status is ${apart} px above its line`)

    await page.fill('[name=q]', 'number 1')
    await page.press('[name=q]', 'Enter')
    await page.click('button:has-text("Published")')
    await page.click('button:has-text("Name")')
    await page.click('#b3')
    await page.waitForSelector('text=is now a draft')
    assert.match(page.url(), /q=number\+1&status=published&sort=name#s3$/)
    const notice = await page.locator('.done').boundingBox()
    assert.ok(notice!.y >= 0 && notice!.y < 600, JSON.stringify(notice))
    await page.click('text=Undo')
    await page.waitForSelector('text=is as before')

    await page.click('text=Select page')
    await page.waitForSelector('tbody :checked >> nth=49')
    assert.equal(await page.locator('tbody :checked').count(), 50)
    await page.uncheck('tbody [type=checkbox] >> nth=0')
    await page.click('text=Delete…')
    await page.click('button:has-text("Delete 49 servers")')
    await page.waitForSelector('text=and 47 more were deleted')
    const left = await recordsOf(dashboard.store).listServers(user.id)
    assert.equal(left.length, 101)
    await page.click('text=Undo')
    await page.waitForSelector('text=and 47 more are back')
    assert.equal((await recordsOf(dashboard.store).listServers(user.id)).length, 150)
    assert.deepEqual([troubles, dashboard.faults], [[], []])
  })

for (const javaScriptEnabled of [true, false])
  test(`a user imports a file, and going back imports nothing again; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const dashboard = await startDashboard(t)
    const { user } = await fill(dashboard, 3)
    const { page, troubles } = await openWindow(t, launched(), { javaScriptEnabled })
    await signIn(page, dashboard, 'ada@example.com')
    await page.goto(`${dashboard.url}/dashboard/servers`)
    await page.click('text=Import')
    await page.fill('#text', 'name,address\nWrong,a b\n')
    await page.click('button:has-text("Check")')
    await page.waitForSelector('text=0 new, 0 changed, 1 wrong')
    assert.equal(await page.inputValue('#text'), 'name,address\nWrong,a b\n')

    await page.fill('#text', '')
    const buffer = Buffer.from(
      'name,address,version\nLagoon,lagoon.example,\nnumber 1,s1.example.com,1.21\n',
    )
    await page.setInputFiles('#file', { name: 'servers.csv', mimeType: 'text/csv', buffer })
    await page.click('button:has-text("Check")')
    await page.waitForSelector('text=1 new, 1 changed, 0 unchanged')
    await page.click('button:has-text("Import 2 servers")')
    await page.waitForSelector('text=Import finished: 1 new, 1 changed')
    // No page is kept in a cache, so the browser asks whether to send the file again.
    await assert.rejects(page.goBack(), /ERR_CACHE_MISS/)
    const saved = (await recordsOf(dashboard.store).listServers(user.id)).map(
      ({ name, version }) => `${name} ${version}`,
    )
    assert.deepEqual(saved.toSorted(), [
      'Lagoon null',
      'number 1 1.21',
      'number 2 null',
      'number 3 null',
    ])
    assert.deepEqual([troubles, dashboard.faults], [[], []])
  })

for (const javaScriptEnabled of [true, false])
  test(`a user checks 150 changes, imports and undoes them; ${javaScriptEnabled ? 'with' : 'without'} script`, async (t) => {
    const dashboard = await startDashboard(t)
    const { person } = await fill(dashboard, 150)
    const before = await person.get('/dashboard/servers/export.json')
    const rows = Array.from(
      { length: 150 },
      (_, index) => `number ${index + 1},s${index + 1}.example.com,1.21,draft\n`,
    )
    const text = `name,address,version,status\n${rows.join('')}new,n.example,,\n`
    const buffer = Buffer.from(text)
    const { page, troubles } = await openWindow(t, launched(), { javaScriptEnabled })
    await signIn(page, dashboard, 'ada@example.com')
    await page.goto(`${dashboard.url}/dashboard/servers/import`)
    await page.setInputFiles('#file', { name: 's.csv', mimeType: 'text/csv', buffer })
    await page.click('button:has-text("Check")')
    await page.waitForSelector('text=1 new, 150 changed, 0 unchanged')
    await page.waitForSelector('text=110 more servers are not shown')
    assert.match(await page.innerText('tbody tr >> nth=0'), /version: none → 1\.21/)
    await page.click('button:has-text("Import 151 servers")')
    await page.waitForSelector('text=Import finished: 1 new, 150 changed')
    assert.notEqual((await person.get('/dashboard/servers/export.json')).body, before.body)
    await page.click('text=Undo')
    await page.waitForSelector('text=The import of 151 servers was undone.')
    assert.equal((await person.get('/dashboard/servers/export.json')).body, before.body)
    assert.deepEqual([troubles, dashboard.faults], [[], []])
  })

test('a file of 10 MB gets its answer in the browser', async (t) => {
  const dashboard = await startDashboard(t)
  await fill(dashboard, 1)
  const { page } = await openWindow(t, launched())
  await signIn(page, dashboard, 'ada@example.com')
  await page.goto(`${dashboard.url}/dashboard/servers/import`)
  const buffer = Buffer.alloc(10_000_000, 'a')
  await page.setInputFiles('#file', { name: 'world.csv', mimeType: 'text/csv', buffer })
  await page.click('button:has-text("Check")')
  await page.waitForSelector('text=This is more than 1 MB')
})

async function fill({ signedIn, store }: TestDashboard, count: number) {
  const { person, user } = await signedIn('ada@example.com')
  const now = presentInstant()
  const entries = Array.from({ length: count }, (_, index) => ({
    name: `number ${index + 1}`,
    address: `s${index + 1}.example.com`,
    updated_at: now - index * 3_600_000_000,
  }))
  await recordsOf(store).saveServers(user.id, null, entries, operatorAt(now))
  return { person, user }
}
