import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { SCRIPT_PATH } from '../../src/dashboard/assets.ts'
import { presentInstant } from '../../src/listing/instant.ts'
import { slotOf } from '../../src/listing/use-counts.ts'
import { type OpenDatabase, startDashboard, type TestDashboard } from '../fixtures/dashboard.ts'
import { type Launched, openWindow, signIn } from './tab.ts'

/** Bytes of a page with all it loads. */
const PAGE_BYTES_MAX = 50_000
/** From asking for a page on loopback to its first paint, in milliseconds: the quickest of so many loads. */
const PAINT_MS_MAX = 100
const LOADS_MAX = 10
/** What a bare text takes at most where the machine has time; where it takes longer, a page may in proportion. */
const BARE_MS = 25
/** Milliseconds between two of them, in which whatever keeps the machine busy may pass. */
const REST_MS = 200

/** Every page, empty and full, in both colour schemes and on a phone. */
export function accessiblePages(open: OpenDatabase, launched: Launched): void {
  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing on any page, ${colorScheme}`, async (t) => {
      const dashboard = await startDashboard(t, open)
      const { page } = await openWindow(t, launched(), { colorScheme })
      const check = async (path: string) => {
        await page.goto(`${dashboard.url}${path}`)
        await assertAccessible(page, path)
      }
      for (const path of ['/sign-in', '/sign-up', '/nothing']) await check(path)
      const { user } = await dashboard.signedIn('ada@example.com')
      await signIn(page, dashboard, 'ada@example.com')
      const empty = ['api', 'servers', 'servers/new', 'organizations', 'account']
      for (const path of empty) await check(`/dashboard/${path}`)

      const { server, key, organization } = await fill(dashboard, user.id)
      const full = [
        'api',
        'servers',
        'servers?q=nothing',
        'servers?page=2',
        'organizations',
        `organizations/${organization}`,
        `servers/${server}`,
        `servers/${server}/delete`,
        `api/${key}/delete`,
        'account?done=email',
      ]
      for (const path of full) await check(`/dashboard/${path}`)
      await page.goto(`${dashboard.url}/dashboard/servers/new`)
      await page.fill('#address', 'a b')
      await page.fill('#name', 'x')
      await page.click('main button')
      await assertAccessible(page, 'a form with mistakes')
      await page.goto(`${dashboard.url}/dashboard/api`)
      await page.fill('#name', 'bot')
      await page.click('text=Issue the key')
      await assertAccessible(page, 'an issued key')
    })

  test('no page is wider than a phone', async (t) => {
    const dashboard = await startDashboard(t, open)
    const { user } = await dashboard.signedIn('ada@example.com')
    const { server, organization } = await fill(dashboard, user.id)
    const { page } = await openWindow(t, launched(), { viewport: { width: 360, height: 700 } })
    await signIn(page, dashboard, 'ada@example.com')
    for (const path of [
      'api',
      'servers',
      'servers/new',
      'account',
      'organizations',
      `servers/${server}`,
      `organizations/${organization}`,
    ]) {
      await page.goto(`${dashboard.url}/dashboard/${path}`)
      const width = await page.evaluate('document.documentElement.scrollWidth')
      assert.ok(Number(width) <= 360, `${path} is ${String(width)} wide`)
    }
  })

  test('a full page has less than 50 kB with all it loads, and is painted within 100 ms', async (t) => {
    const dashboard = await startDashboard(t, open)
    const { user } = await dashboard.signedIn('ada@example.com')
    await fill(dashboard, user.id)
    const { context, page } = await openWindow(t, launched())
    await signIn(page, dashboard, 'ada@example.com')
    for (const path of ['api', 'servers', 'organizations', 'account']) {
      const fresh = await context.newPage()
      const bodies: Promise<number>[] = []
      fresh.on('response', (response) => {
        bodies.push(response.body().then((body) => body.length))
      })
      await fresh.goto(`${dashboard.url}/dashboard/${path}`)
      const bytes = (await Promise.all(bodies)).reduce((sum, length) => sum + length, 0)
      assert.ok(bytes < PAGE_BYTES_MAX, `${path} has ${bytes} bytes`)
      const paint = await quickestPaint(fresh, `${dashboard.url}/dashboard/${path}`, PAINT_MS_MAX)
      const bare =
        paint < PAINT_MS_MAX ? 0 : await quickestPaint(fresh, `${dashboard.url}${SCRIPT_PATH}`, 0)
      t.diagnostic(
        `${path}: ${bytes} bytes, painted after ${paint} ms, a bare text after ${bare} ms`,
      )
      const paintMax = PAINT_MS_MAX * Math.max(1, bare / BARE_MS)
      assert.ok(paint < paintMax, `${path} is painted after ${paint} ms, a text after ${bare} ms`)
      await fresh.close()
    }
  })
}

async function assertAccessible(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`,
  )
  assert.deepEqual(found, [], where)
}

/** Of LOADS_MAX loads, or of fewer if one of them is quick enough. */
async function quickestPaint(page: Page, url: string, enough: number): Promise<number> {
  let paint = Number.POSITIVE_INFINITY
  for (let load = 0; load < LOADS_MAX && paint >= enough; load += 1) {
    if (load > 0) await delay(REST_MS)
    await page.goto(url)
    paint = Math.min(paint, await firstPaint(page))
  }
  return paint
}

async function firstPaint(page: Page): Promise<number> {
  // The first entry may be of a paint without content.
  const read = `new Promise((resolve) => new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntriesByName('first-contentful-paint')) resolve(startTime)
  }).observe({ type: 'paint', buffered: true }))`
  return Number(await page.evaluate(read))
}

async function fill(
  { store }: TestDashboard,
  userId: string,
): Promise<{ server: string; key: string; organization: string }> {
  const now = presentInstant()
  const entries = Array.from({ length: 101 }, (_, index) => ({
    name: `Cobblestone Commons ${index}`,
    address: `play${index}.cobblestone.example:25570`,
    slug: `cobblestone-commons-${index}`,
    version: '1.21.4',
    listing_kind: 'server',
  }))
  await store.saveServers(userId, null, entries, now)
  const organization = await store.ensureOrganization('guild', userId)
  await store.saveServers(userId, organization, entries.slice(0, 3), now)
  const [server] = await store.listServers(userId)
  let key = ''
  for (let index = 0; index < 4; index += 1) {
    key = crypto.randomUUID()
    await store.insertApiKey(
      {
        id: key,
        user_id: userId,
        name: `Program ${index}`,
        prefix: 'svc_live_0123456',
        created_at: now,
        revoked_at: null,
        last_used_at: null,
      },
      crypto.getRandomValues(new Uint8Array(32)),
      5,
    )
    if (index === 0) await store.revokeApiKey(userId, key, now)
    const counts = Array.from({ length: 144 }, (_, ago) => ({
      api_key_id: key,
      slot: slotOf(now) - ago,
      answered: 500 + ago,
      limited: ago % 7,
      revoked: index === 0 ? 3 : 0,
    }))
    await store.addUseCounts(counts)
  }
  return { server: server!.id, key, organization }
}
