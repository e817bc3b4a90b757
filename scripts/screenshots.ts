import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createPasswords } from '../src/accounts/passwords.ts'
import { presentInstant } from '../src/listing/instant.ts'
import { issueApiKey } from '../src/listing/manage-api-keys.ts'
import { checkEntries } from '../src/listing/server-entry.ts'
import { slotOf } from '../src/listing/use-counts.ts'
import { createUser } from '../src/listing/user.ts'
import { openAccounts } from '../src/open-accounts.ts'
import { type OpenedStore, openServingStore } from '../src/open-store.ts'
import { startService } from '../src/service.ts'
import { launchChromium } from '../test/fixtures/chromium.ts'

/*
 * The main pages of the dashboard as pictures in docs/screenshots/: `npm run screenshots`.
 */

const FOLDER = 'docs/screenshots'
const OWNER = 'ada@example.com'
const OTHER = 'grace@example.com'
const PASSWORD = 'correct horse battery staple'
const DESK = { width: 1100, height: 820 }
const PHONE = { width: 390, height: 780 }

const folder = mkdtempSync(join(tmpdir(), 'server-listing-screenshots-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const database = { engine: 'sqlite', path: join(folder, 'listing.db') } as const
const onFault = (fault: unknown) => console.error(fault)
const store = await openServingStore(database, onFault)
const keys = await fill(store)
const dashboardUrl = 'http://127.0.0.1:8081'
const service = await startService({
  store,
  host: '127.0.0.1',
  port: 0,
  log: { fault: onFault, http() {} },
  dashboard: {
    port: 0,
    openAccounts: () => openAccounts(store, { database, authSecret: null, dashboardUrl }),
    baseUrl: 'https://api.example.com',
    dashboardUrl,
    signUp: 'open',
    trustedProxies: [],
  },
})
await fetch(`http://127.0.0.1:${service.port}/v1/servers`, {
  headers: { Authorization: `Bearer ${keys[0]}` },
})
const browser = await launchChromium()
const context = await browser.newContext({ viewport: DESK })
const page = await context.newPage()
const url = `http://127.0.0.1:${service.dashboardPort}`
mkdirSync(FOLDER, { recursive: true })

await page.goto(`${url}/sign-in`)
await take(page, 'sign-in')
await page.fill('#email', OWNER)
await page.fill('#password', PASSWORD)
await page.click('main button')
await take(page, 'keys')
await page.goto(`${url}/dashboard/servers`)
await take(page, 'servers')
await page.goto(`${url}/dashboard/servers/new`)
await take(page, 'register')
await page.goto(`${url}/dashboard/organizations`)
await take(page, 'organizations')
await page.click('.rows a')
await take(page, 'organization')
await page.goto(`${url}/dashboard/account`)
await take(page, 'account')
await page.goto(`${url}/dashboard/api`)
await page.click('a.danger')
await take(page, 'delete')
await page.goto(`${url}/dashboard/api`)
await page.fill('#name', 'Website')
await page.click('text=Issue the key')
await take(page, 'issued')

await browser.close()
await service.close()

/** One picture on a desk in the light, one on a phone in the dark. */
async function take(shown: Page, name: string): Promise<void> {
  await shown.emulateMedia({ colorScheme: 'light' })
  await shown.screenshot({ path: `${FOLDER}/${name}.png`, fullPage: true })
  await shown.setViewportSize(PHONE)
  await shown.emulateMedia({ colorScheme: 'dark' })
  await shown.screenshot({ path: `${FOLDER}/${name}-phone-dark.png`, fullPage: true })
  await shown.setViewportSize(DESK)
  await shown.emulateMedia({ colorScheme: 'light' })
}

/** Returns the keys that were issued. */
async function fill(target: OpenedStore): Promise<string[]> {
  const issuedKeys: string[] = []
  const now = presentInstant()
  const user = createUser(OWNER)
  await target.insertUserWithPassword(user, await createPasswords().hash(PASSWORD))
  const sample = readFileSync(new URL('../demo/sample-servers.json', import.meta.url), 'utf8')
  const checked = checkEntries(JSON.parse(sample))
  if ('complaints' in checked) throw new Error(checked.complaints.join('\n'))
  // Those whose letters the fonts of a bare machine have.
  const entries = checked.entries.filter(({ name }) => /^[ -~]+$/.test(name))
  await target.saveServers(user.id, null, entries, now)
  const organization = await target.ensureOrganization('red-stone', user.id)
  await target.saveServers(user.id, organization, entries.slice(0, 2), now)
  const other = createUser(OTHER)
  await target.insertUser(other)
  await target.invite(user.id, organization, OTHER, 0, now)
  await target.acceptInvitation(other.id, organization, 0, now)
  await target.invite(user.id, organization, 'joan@example.com', 0, now)
  const guild = { id: randomUUID(), slug: 'lantern-guild', name: 'Lantern Guild' }
  await target.insertOrganization(other.id, guild, now)
  await target.invite(other.id, guild.id, OWNER, 0, now)
  for (const [index, name] of ['Discord bot', 'Status page', 'Old website'].entries()) {
    const issued = await issueApiKey(target, user.id, name, now - (40 - index) * 86_400_000_000)
    if ('refused' in issued) throw new Error(issued.refused)
    issuedKeys.push(issued.key)
    const api_key_id = issued.apiKey.id
    if (index === 2) await target.revokeApiKey(user.id, api_key_id, now)
    const slots = Array.from({ length: index === 1 ? 0 : 130 }, (_, ago) => ago)
    await target.addUseCounts(
      slots.map((ago) => ({
        api_key_id,
        slot: slotOf(now) - ago,
        answered: index === 2 ? 0 : Math.round(180 + 110 * Math.sin(ago / 9)),
        limited: index === 2 ? 0 : Math.max(0, Math.round(60 * Math.sin(ago / 17) - 25)),
        revoked: index === 2 && ago < 9 ? 20 : 0,
      })),
    )
  }
  return issuedKeys
}
