import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { exchange } from '../../fixtures/person.ts'

test('on a loopback address the dashboard answers for its own hosts only', async (t) => {
  const { port } = await startDashboard(t, {
    dashboardUrl: 'https://listing.example.com',
    siteUrl: 'https://www.example.com/minecraft',
  })
  const answerFor = (Host: string, path = '/sign-in') => exchange(port, 'GET', path, { Host })
  for (const path of ['/sign-in', '/dashboard', '/servers/1', '/assets/style.css']) {
    const { status, body } = await answerFor('evil.example:8081', path)
    assert.equal(status, 421)
    assert.match(body, /by its address or as localhost.*must set DASHBOARD_URL/)
  }
  const own = ['127.0.0.1:8081', '[::1]:8081', 'localhost:8081', 'listing.example.com']
  for (const host of [...own, 'www.example.com'])
    assert.equal((await answerFor(host)).status, 200, host)
})
