import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { PASSWORD, startDashboard, type TestDashboard } from '../fixtures/dashboard.ts'
import { launchForFile, openWindow, signIn } from './tab.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * The clicks and fields of five jobs, as docs/dashboard.md has them.
 */

const EMAIL = 'ada@example.com'
const SERVERS = 150

/** The hands of a user, which are counted. */
interface Hands {
  click(selector: string): Promise<void>
  fill(selector: string, text: string): Promise<void>
  /** Waits, which costs nothing. */
  see(selector: string): Promise<unknown>
}

interface Job {
  name: string
  /** True if the job begins with the list of servers of a signed-in user. */
  isSignedIn: boolean
  /** True if the user has a key already. */
  hasKey?: boolean
  do(hands: Hands): Promise<void>
}

const JOBS: Job[] = [
  {
    name: 'first listing',
    isSignedIn: false,
    async do({ click, fill, see }) {
      await click('text=Create one')
      await fill('#email', EMAIL)
      await fill('#password', PASSWORD)
      await click('text=Create account')
      await click('text=Register a server')
      await fill('#name', 'Cobblestone')
      await fill('#address', 'play.example.com')
      await click('main button.primary')
      await see('text=was added')
    },
  },
  {
    name: 'first curl',
    isSignedIn: true,
    async do({ click, fill, see }) {
      await click('nav >> text=API keys')
      await fill('#name', 'bot')
      await click('button:has-text("Issue key")')
      await click('[data-copy=export]')
      await click('[data-copy=curl]')
      await see('text=Copied')
    },
  },
  {
    name: '150 servers',
    isSignedIn: true,
    async do({ click, fill, see }) {
      await click('main .head >> text=Import')
      const rows = Array.from({ length: SERVERS }, (_, row) => `n${row},s${row}.example.com`)
      await fill('#text', ['name,address', ...rows].join('\n'))
      await click('main button.primary')
      await click('main button.primary:has-text("Import")')
      await see(`text=Import finished: ${SERVERS} new`)
    },
  },
  {
    name: 'leaked key',
    isSignedIn: true,
    hasKey: true,
    async do({ click, fill, see }) {
      await click('nav >> text=API keys')
      await click('text=Has a key leaked?')
      await fill('#leaked', `it was in the log: ${key}`)
      await click('text=Delete leaked keys')
      await see('.notice.good')
    },
  },
  {
    name: 'replace a key',
    isSignedIn: true,
    hasKey: true,
    async do({ click, see }) {
      await click('nav >> text=API keys')
      await click('text=Replace…')
      await click('text=Issue the new key')
      await click('[data-copy=export]')
      await click('text=Delete the old key…')
      await click('main button.danger')
      await see('text=was deleted')
    },
  },
]

let key = ''

const launched = launchForFile()

for (const job of JOBS)
  test(`the table of steps tells how many clicks and fields the job takes: ${job.name}`, async (t) => {
    const dashboard = await startDashboard(t)
    const permissions = ['clipboard-read', 'clipboard-write']
    const { page } = await openWindow(t, launched(), { permissions })
    if (job.isSignedIn) await prepare(dashboard, page, job)
    else await page.goto(dashboard.url)
    const [clicks, fields] = await count(page, job)
    assert.equal(
      ownSteps(job.name),
      `${clicks} clicks, ${fields} ${fields === 1 ? 'field' : 'fields'}`,
    )
  })

/** A user with a server, and a key if the job needs one, at the list of servers. */
async function prepare(dashboard: TestDashboard, page: Page, job: Job): Promise<void> {
  const { person, user } = await dashboard.signedIn(EMAIL)
  const entry = { name: 'Cobblestone', address: 'play.example.com' }
  await recordsOf(dashboard.store).saveServers(user.id, null, [entry], operatorAt(1))
  if (job.hasKey) key = await person.issue('Discord bot')
  await signIn(page, dashboard, EMAIL)
  await page.goto(`${dashboard.url}/dashboard/servers`)
}

async function count(page: Page, job: Job): Promise<[clicks: number, fields: number]> {
  let [clicks, fields] = [0, 0]
  await job.do({
    async click(selector) {
      clicks += 1
      await page.click(selector)
    },
    async fill(selector, text) {
      fields += 1
      await page.fill(selector, text)
    },
    see: (selector) => page.waitForSelector(selector),
  })
  return [clicks, fields]
}

/** The second column of the table in docs/dashboard.md. */
function ownSteps(job: string): string | undefined {
  const text = readFileSync(new URL('../../docs/dashboard.md', import.meta.url), 'utf8')
  return text
    .split('\n')
    .find((line) => line.startsWith(`| ${job} |`))
    ?.split('|')[2]
    ?.trim()
}
