import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { HOSTILE_PARTS } from '../states/hostile-names.ts'
import { launchForFile, openWindow } from '../tab.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The public pages of servers in Chromium. The visits of pages.test.ts see one of them, too.
 */

const LONG = 'W'.repeat(80)

const launched = launchForFile()

test('a public page with a hostile name runs nothing, loads nothing and breaks no policy', async (t) => {
  const { ids, url } = await publish(t, [...HOSTILE_PARTS, LONG])
  const { page, troubles } = await openWindow(t, launched())
  const requests: string[] = []
  const said: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  page.on('console', (message) => said.push(message.text()))
  for (const [name, id] of ids) {
    await page.goto(`${url}/servers/${id}`)
    const json = await page.textContent('script[type="application/ld+json"]')
    const shown = await page.innerText('h1')
    assert.equal(JSON.parse(json!).name, shown)
    if (/^[ -~]*$/.test(name)) assert.equal(shown.replace(/\s/g, ''), name.replace(/\s/g, ''))
  }
  assert.deepEqual([troubles, said], [[], []])
  assert.deepEqual(
    requests,
    ids.map(([, id]) => `${url}/servers/${id}`),
  )
})

/** Publishes a server with each of these names. Returns the names with the ids. */
async function publish(t: Parameters<typeof startDashboard>[0], names: readonly string[]) {
  const dashboard = await startDashboard(t, { publicPages: true })
  const { user } = await dashboard.signedIn()
  const ids: [name: string, id: string][] = []
  for (const name of names) {
    const id = randomUUID()
    const fields = {
      name,
      slug: null,
      address: `${'w'.repeat(60)}.example:25570`,
      edition: name.slice(0, 60),
      status: 'published',
      version: name.slice(0, 60),
      listing_kind: null,
      organization_id: null,
    }
    assert.equal(
      await recordsOf(dashboard.store).insertServer(
        user.id,
        id,
        fields,
        operatorAt(presentInstant()),
      ),
      'written',
    )
    ids.push([name, id])
  }
  return { ids, url: dashboard.url }
}
