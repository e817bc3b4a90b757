import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { presentInstant } from '../src/model/instant.ts'
import { issueApiKey } from '../src/keys/records/issued-keys.ts'
import { readServers } from '../src/servers/file/server-file.ts'
import type { ServingStore } from '../src/database/store.ts'
import { openServingStore } from '../src/open-store.ts'
import { startService } from '../src/service.ts'
import { slotOf } from '../src/model/usage-counts.ts'
import { createUser } from '../src/accounts/user.ts'
import { createPasswords } from '../src/accounts/sign-in/passwords.ts'
import { launchChromium } from '../test/fixtures/browser/chromium.ts'
import { submit } from '../test/browser/states/actions.ts'
import { passwords } from '../src/accounts/records/passwords.ts'
import { serverImports } from '../src/servers/records/server-imports.ts'
import { members } from '../src/organizations/records/members.ts'
import { organizations } from '../src/organizations/records/organizations.ts'
import { users } from '../src/accounts/records/users.ts'
import { apiKeys } from '../src/keys/records/api-keys.ts'
import { operatorAt } from '../src/model/audit.ts'
import { usageCounts } from '../src/keys/records/usage-counts.ts'

/*
 * `npm run screenshots` writes pictures of the main dashboard pages to docs/screenshots/. They show
 * Inter, which looks like the fonts of most systems: the package fonts-inter of Debian. If it is
 * not installed, FONTS names a folder with it.
 */

const FOLDER = 'docs/screenshots'
const OWNER = 'ada@example.com'
const OTHER = 'grace@example.com'
const PASSWORD = 'correct horse battery staple'
const DESK = { width: 1280, height: 860 }
const PHONE = { width: 390, height: 844 }
/** Of 100. Text is still sharp. */
const QUALITY = 85

const { service, keys, folder, url } = await startSample()
await fetch(`http://127.0.0.1:${service.port}/v1/servers`, {
  headers: { Authorization: `Bearer ${keys[0]}` },
})
drawWithInter()
const browser = await launchChromium()
const page = await browser.newPage({ viewport: DESK, colorScheme: 'light' })
mkdirSync(FOLDER, { recursive: true })

await page.goto(`${url}/sign-in`)
await take(page, 'sign-in')
await page.fill('#email', OWNER)
await page.fill('#password', PASSWORD)
await submit(page, 'main button')
await page.goto(`${url}/dashboard/api`)
await take(page, 'keys')
await page.goto(`${url}/dashboard/servers`)
await take(page, 'servers')
const publicUrl = (await page.getAttribute('td > a', 'href'))!
await page.goto(`${url}${new URL(publicUrl).pathname}`)
await take(page, 'public')
await page.goto(`${url}/dashboard/servers/new`)
await take(page, 'register')
await page.goto(`${url}/dashboard/organizations`)
await take(page, 'organizations')
await submit(page, '.rows >> text=red-stone')
await take(page, 'organization')
await submit(page, 'text=Members')
await take(page, 'members')
await page.goto(`${url}/docs`)
await take(page, 'docs')
await page.goto(`${url}/dashboard/account`)
await take(page, 'account')
await page.goto(`${url}/dashboard/api`)
await submit(page, '.keys >> text=Delete…')
await take(page, 'delete')
await page.goto(`${url}/dashboard/api?name=`)
await page.fill('#name', 'Website')
await submit(page, 'text=Issue key')
await take(page, 'issued')

await browser.close()
await service.close()

/** One picture of a light desktop and one of a dark phone. */
async function take(shown: Page, name: string): Promise<void> {
  await shoot(shown, name)
  await shown.setViewportSize(PHONE)
  await shown.emulateMedia({ colorScheme: 'dark' })
  await shoot(shown, `${name}-phone-dark`)
  await shown.setViewportSize(DESK)
  await shown.emulateMedia({ colorScheme: 'light' })
}

/** WebP takes a fifth of the bytes of PNG. */
async function shoot(shown: Page, name: string): Promise<void> {
  await shown.screenshot({ path: `${FOLDER}/${name}.webp`, type: 'webp', quality: QUALITY })
}

function drawWithInter(): void {
  const families = ['system-ui', 'sans-serif', 'sans'].map(
    (family) =>
      `<match target="pattern"><test name="family"><string>${family}</string></test><edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>`,
  )
  const own = process.env.FONTS === undefined ? '' : `<dir>${process.env.FONTS}</dir>`
  const path = join(folder, 'fonts.conf')
  writeFileSync(
    path,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><include>/etc/fonts/fonts.conf</include>${own}${families.join('')}</fontconfig>`,
  )
  process.env.FONTCONFIG_FILE = path
  if (!execFileSync('fc-match', ['system-ui'], { encoding: 'utf8' }).includes('Inter'))
    throw new Error('Install the font Inter (fonts-inter), or name its folder in FONTS.')
}

/** Returns the issued keys. */
async function fill(target: ServingStore): Promise<string[]> {
  const issuedKeys: string[] = []
  const now = presentInstant()
  const user = createUser(OWNER)
  await passwords(target.database).insertUserWithPassword(
    user,
    await createPasswords().hash(PASSWORD),
    'sign-up',
    operatorAt(presentInstant()),
  )
  const sample = readFileSync(new URL('../demo/sample-servers.json', import.meta.url), 'utf8')
  const checked = await readServers(sample)
  if ('complaint' in checked) throw new Error(checked.complaint)
  // Names whose letters the fonts of a bare machine have.
  const entries = checked.entries.filter(({ name }) => /^[ -~]+$/.test(name))
  await serverImports(target.database).saveServers(user.id, null, entries, operatorAt(now))
  const organization = await organizations(target.database).ensureOrganization(
    'red-stone',
    user.id,
    operatorAt(now),
  )
  await serverImports(target.database).saveServers(
    user.id,
    organization,
    entries.slice(0, 2),
    operatorAt(now),
  )
  const other = createUser(OTHER)
  await users(target.database).insertUser(other, operatorAt(presentInstant()))
  await members(target.database).addMember(user.id, organization, OTHER, operatorAt(now))
  const guild = { id: randomUUID(), slug: 'lantern-guild', name: 'Lantern Guild' }
  await organizations(target.database).insertOrganization(other.id, guild, operatorAt(now))
  await members(target.database).addMember(other.id, guild.id, OWNER, operatorAt(now))
  for (const [index, name] of ['Discord bot', 'Status page', 'Old website'].entries()) {
    const issued = await issueApiKey(
      target.database,
      user.id,
      name,
      operatorAt(now - (40 - index) * 86_400_000_000),
    )
    if ('refused' in issued) throw new Error(issued.refused)
    issuedKeys.push(issued.key)
    const api_key_id = issued.apiKey.id
    if (index === 2)
      await apiKeys(target.database).revokeApiKey(user.id, api_key_id, operatorAt(now))
    const slots = Array.from({ length: index === 1 ? 0 : 130 }, (_, ago) => ago)
    await usageCounts(target.counting).addUsageCounts(
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

/** Starts the service on a new SQLite file that the process deletes when it exits. */
async function startSample() {
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-sample-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const database = { engine: 'sqlite', path: join(folder, 'listing.db') } as const
  const store = await openServingStore(database, onFault)
  const keys = await fill(store)
  const service = await startService({
    store,
    host: '127.0.0.1',
    port: 0,
    log: { fault: onFault, http() {} },
    dashboard: {
      port: 0,
      baseUrl: 'https://api.example.com',
      dashboardUrl: 'http://127.0.0.1:8081',
      siteUrl: 'https://listing.example.com',
      publicPages: true,
      signUp: 'open',
      trustedProxies: [],
    },
  })
  return { service, keys, folder, url: `http://127.0.0.1:${service.dashboardPort}` }
}

function onFault(fault: unknown): undefined {
  console.error(fault)
}
