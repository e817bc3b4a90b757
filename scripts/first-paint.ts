import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { BUDGETS } from '../src/web/request/token-bucket.ts'
import { presentInstant } from '../src/model/instant.ts'
import type { ServingStore } from '../src/database/store.ts'
import { createUser } from '../src/accounts/user.ts'
import { createPasswords } from '../src/accounts/sign-in/passwords.ts'
import { launchChromium } from '../test/fixtures/browser/chromium.ts'
import { PASSWORD, startSample } from './sample-dashboard.ts'
import { passwords } from '../src/accounts/records/passwords.ts'
import { serverImports } from '../src/servers/records/server-imports.ts'
import { operatorAt } from '../src/model/audit.ts'

/*
 * `npm run first-paint` measures how long each page takes in Chromium until its first text or
 * picture stands on the screen, over loopback. A cold load has an empty cache, as on a first visit.
 * Of many loads it prints the least, which other programs on the machine disturb least.
 */

const LOADS = 15
/** Between two loads, so that the dashboard does not throttle the user. */
const REST_MS = 1_000 / BUDGETS.page.perSecond
const EMAIL = 'ada@example.com'
const SERVERS = 150
const PAGES = ['servers', 'api', 'servers/new', 'organizations', 'account', 'docs']

const { service, url } = await startSample(fill)
const browser = await launchChromium()
const page = await browser.newPage()
const devtools = await page.context().newCDPSession(page)

await page.goto(`${url}/sign-in`)
await print('sign-in', '/sign-in')
await page.goto(`${url}/sign-in`)
await page.fill('#email', EMAIL)
await page.fill('#password', PASSWORD)
await page.click('main button')
await page.waitForURL(/dashboard/)
for (const path of PAGES) await print(path, `/dashboard/${path}`)
await browser.close()
await service.close()

async function fill(store: ServingStore): Promise<void> {
  const user = createUser(EMAIL)
  await passwords(store.database).insertUserWithPassword(
    user,
    await createPasswords().hash(PASSWORD),
    'sign-up',
    operatorAt(presentInstant()),
  )
  const entries = Array.from({ length: SERVERS }, (_, index) => ({
    name: `Server ${index}`,
    address: `play${index}.example.com`,
  }))
  await serverImports(store.database).saveServers(
    user.id,
    null,
    entries,
    operatorAt(presentInstant()),
  )
}

async function print(name: string, path: string): Promise<void> {
  const cold: number[] = []
  const warm: number[] = []
  for (let load = 0; load < LOADS; load += 1) {
    await devtools.send('Network.clearBrowserCache')
    cold.push(await firstPaint(page, `${url}${path}`))
    warm.push(await firstPaint(page, `${url}${path}`))
  }
  console.log(`${name.padEnd(14)} cold ${tell(cold)}   warm ${tell(warm)}`)
}

function tell(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const [least, median] = [sorted[0]!, sorted[sorted.length >> 1]!]
  return `${least.toFixed(0).padStart(4)} ms, median ${median.toFixed(0).padStart(4)} ms`
}

/** Milliseconds from the navigation to the first text or picture. */
async function firstPaint(shown: Page, address: string): Promise<number> {
  await delay(REST_MS)
  await shown.goto(address)
  const read = `new Promise((resolve) => new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntriesByName('first-contentful-paint')) resolve(startTime)
  }).observe({ type: 'paint', buffered: true }))`
  return Number(await shown.evaluate(read))
}
