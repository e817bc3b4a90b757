import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { launchForFile, openWindow, signIn, waitForText } from '../tab.ts'

/*
 * The way back into an account, without a shell.
 */

const OPERATOR = 'ops@example.com'
const NEW_PASSWORD = 'another battery of horses'

const launched = launchForFile()

test('a user who forgot the password asks, gets a link from the operator and is signed in', async (t) => {
  const dashboard = await startDashboard(t, {
    operators: [OPERATOR],
    contact: 'https://example.com/help',
    dashboardUrl: null,
  })
  await dashboard.signedIn(OPERATOR)
  await dashboard.signedIn('mia@example.com')
  const { page: user, troubles } = await openWindow(t, launched())
  await user.goto(`${dashboard.url}/sign-in`)
  const help = user.locator('main p a', { hasText: 'the operator of this service' })
  assert.equal(await help.getAttribute('href'), 'https://example.com/help')

  const { page: ops, context, troubles: others } = await openWindow(t, launched())
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await signIn(ops, dashboard, OPERATOR)
  await ops.goto(`${dashboard.url}/dashboard/operator`)
  await ops.fill('[name=q]', 'MIA')
  await ops.press('[name=q]', 'Enter')
  await ops.click('td a')
  await ops.click('text=Create a sign-in link…')
  await ops.click('main .primary')
  await ops.fill('#password', PASSWORD)
  await ops.click('main .primary')
  await ops.click('[data-copy]')
  await ops.waitForSelector('text=Copied')
  const link = String(await ops.evaluate('navigator.clipboard.readText()'))
  assert.match(link, new RegExp(`^${dashboard.url}/link/[\\w-]{43}$`))
  await ops.click('text=Done')
  await waitForText(ops, 'An operator issued a sign-in link')
  await ops.goBack()
  await waitForText(ops, 'Create a sign-in link for')
  assert.equal((await ops.content()).includes(link), false, 'the way back shows no link')

  await user.goto(link)
  await user.fill('#password', NEW_PASSWORD)
  await user.click('main .primary')
  await user.waitForURL(/\/dashboard/)
  await user.goto(`${dashboard.url}/dashboard/account`)
  await waitForText(user, 'Set a new password with a sign-in link')
  assert.deepEqual([troubles, others, dashboard.faults], [[], [], []])
})
