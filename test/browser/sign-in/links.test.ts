import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueSignInLink } from '../../../src/accounts/records/issued-links.ts'
import { createUser } from '../../../src/accounts/user.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { recordsOf } from '../../fixtures/records.ts'
import {
  accessibleInEachColor,
  atEachWidth,
  marked,
  named,
  narrow,
  plain,
} from '../states/checks.ts'
import { launchForFile, openWindow, waitForText } from '../tab.ts'

/*
 * Sign-in by links alone, as a site's user meets it.
 */

const launched = launchForFile()

test('a user comes by a link, confirms by the next one and is back at the form', async (t) => {
  const dashboard = await startDashboard(t, {
    signUp: 'closed',
    signInByPassword: false,
    siteUrl: 'https://lagoon.example',
    siteName: 'Lagoon',
    dashboardUrl: null,
  })
  const { url, store, elapse, faults } = dashboard
  const actor = operatorAt(presentInstant())
  const user = createUser(null, 'player 7')
  await recordsOf(store).insertUser(user, actor)
  const linkPath = async () =>
    (await issueSignInLink(store.database, user.id, 1, actor, false))!.path
  const { page, troubles } = await openWindow(t, launched())
  async function look(title: string): Promise<void> {
    for (const check of [accessibleInEachColor, named, marked, plain]) await check(page, title)
    await atEachWidth(narrow)(page, title)
  }

  await page.goto(`${url}/dashboard/api?name=bot`)
  await waitForText(page, 'Go to lagoon.example, sign in there, and open its link')
  await look('sign in')
  const path = await linkPath()
  await page.goto(`${url}${path}`)
  await waitForText(page, 'It signs in player 7.')
  await look('link')
  await page.click('main button')
  await page.waitForURL(`${url}/dashboard/api?name=bot`)
  await page.goto(`${url}${path}`)
  await waitForText(page, 'This link no longer works')
  await look('spent')
  await page.click('text=go to the dashboard')

  elapse(11 * 60_000)
  await page.goto(`${url}/dashboard/api?name=bot`)
  await page.click('main form .primary')
  await waitForText(page, 'Sign in again to issue a key.')
  await look('confirm')
  await page.goto(`${url}${await linkPath()}`)
  await page.click('main button')
  await page.waitForURL(`${url}/dashboard/api?name=bot`)
  await page.click('main form .primary')
  await waitForText(page, 'Your new key')
  assert.deepEqual([troubles, faults], [[], []])
})
