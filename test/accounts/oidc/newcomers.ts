import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql, uuid } from '../../../src/database/sql.ts'
import type { Database } from '../../../src/database/database.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { createUser } from '../../../src/accounts/user.ts'
import type { OpenDatabase } from '../../fixtures/dashboard.ts'
import type { ProviderBrowser } from '../../fixtures/oidc/browser.ts'
import { startSite, type TestSite, titleOf } from '../../fixtures/oidc/site.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { recordsOf } from '../../fixtures/records.ts'

const EMAIL = 'ada@example.com'
const OPERATOR = operatorAt(presentInstant())

/** The kinds of account that the dashboard can have at a first sign-in. */
const KINDS: Record<string, (site: TestSite) => Promise<void>> = {
  'no account': async () => {},
  'an account without a way in': async ({ store }) => {
    await recordsOf(store).insertUser(createUser(EMAIL), OPERATOR)
  },
  'the same with an external id': async ({ store }) => {
    await recordsOf(store).insertUser(createUser(EMAIL, '4711'), OPERATOR)
  },
  'an account with a password': async ({ store }) => {
    const records = recordsOf(store)
    await records.insertUserWithPassword(createUser(EMAIL), 'hash', 'sign-up', OPERATOR)
  },
  'an account with another identity': async ({ store, provider }) => {
    const user = createUser(EMAIL)
    await recordsOf(store).insertUser(user, OPERATOR)
    await provision(store.database, provider.issuer, 'another', user.id)
  },
  'a disabled account without a way in': async ({ store }) => {
    const user = createUser(EMAIL)
    await recordsOf(store).insertUser(user, OPERATOR)
    await recordsOf(store).setDisabled(user.id, true, OPERATOR)
  },
  'an account with this identity': async ({ store, provider }) => {
    const user = createUser(null, '4711')
    await recordsOf(store).insertUser(user, OPERATOR)
    await provision(store.database, provider.issuer, 'ada', user.id)
  },
  'a disabled account with this identity': async ({ store, provider }) => {
    const user = createUser(EMAIL)
    await recordsOf(store).insertUser(user, OPERATOR)
    await provision(store.database, provider.issuer, 'ada', user.id)
    await recordsOf(store).setDisabled(user.id, true, OPERATOR)
  },
  'an account with this subject of another provider': async ({ store }) => {
    const user = createUser(null, '4711')
    await recordsOf(store).insertUser(user, OPERATOR)
    await provision(store.database, 'https://other.example.com', 'ada', user.id)
  },
}

/** The addresses that the provider can send. */
const CLAIMS: Record<string, Record<string, unknown>> = {
  verified: { email: 'Ada@Example.com', email_verified: true },
  unverified: { email: EMAIL, email_verified: false },
  'not said': { email: EMAIL },
  'verified as a text': { email: EMAIL, email_verified: 'true' },
  none: {},
  'no ASCII': { email: 'adа@example.com', email_verified: true },
  'too long': { email: `${'a'.repeat(100_000)}@example.com`, email_verified: true },
  'a list': { email: [EMAIL], email_verified: true },
}

/** Inserts an identity as a site does. */
async function provision(
  database: Database,
  issuer: string,
  subject: string,
  userId: string,
): Promise<void> {
  await database.run(sql`
    INSERT INTO identities (issuer, subject, user_id) VALUES (${issuer}, ${subject}, ${uuid(userId)})`)
}

/** Who ends up where, for each kind of account and each kind of address. */
export function newcomersSuite(open: OpenDatabase): void {
  for (const signUp of ['closed', 'open'] as const)
    test(`with OIDC_SIGN_UP=${signUp}, each account and address ends as the decision says`, async (t) => {
      const site = await startSite(t, open, { provided: { signUp } })
      const rows: string[] = []
      const browser = site.provider.browser()
      for (const [kind, make] of Object.entries(KINDS))
        for (const claims of ['verified', 'anything else']) {
          const names = claims === 'verified' ? [claims] : othersFor(kind)
          const ends = new Set<string>()
          for (const name of names) {
            await empty(site)
            await make(site)
            site.provider.people.ada = CLAIMS[name]!
            ends.add(await endOf(site, browser))
          }
          assert.equal(ends.size, 1, `${kind}, ${claims}: ${[...ends].join(' or ')}`)
          rows.push(`| ${kind} | ${claims} | ${[...ends][0]} |`)
        }
      const page = readFileSync(join(ROOT, 'docs/decisions/0057-sign-in-by-oidc.md'), 'utf8')
      const table = page.split(`\`OIDC_SIGN_UP=${signUp}\`:\n\n`)[1]?.split('\n\n')[0]?.split('\n')
      assert.deepEqual(table?.slice(2), rows, rows.join('\n'))
      assert.deepEqual(site.providerFaults(), [])
    })
}

/** The claims other than a verified address. Each is tried where an address could link. */
function othersFor(kind: string): string[] {
  const [, ...others] = Object.keys(CLAIMS)
  return /^no account|without a way in$/.test(kind) ? others : others.slice(0, 1)
}

async function empty({ store }: TestSite): Promise<void> {
  await store.database.run(sql`DELETE FROM users`)
}

/** Signs Ada in, and says what that did to the accounts. */
async function endOf(site: TestSite, browser: ProviderBrowser): Promise<string> {
  const { rows, visitor, come, provider } = site
  const accounts = async () =>
    rows(sql`SELECT id, email, external_id, email_issuer FROM users ORDER BY id`)
  const links = async () =>
    rows(sql`SELECT issuer, subject, user_id FROM identities ORDER BY issuer, subject`)
  const [accountsBefore, linksBefore] = [await accounts(), await links()]
  const answer = await come(visitor(), 'ada', browser)
  const [accountsAfter, linksAfter] = [await accounts(), await links()]
  const sessions = await rows(sql`SELECT user_id FROM sessions`)
  if (answer.status !== 303) {
    assert.deepEqual([accountsAfter, linksAfter, sessions], [accountsBefore, linksBefore, []])
    return `the page “${titleOf(answer)}”`
  }
  assert.equal(sessions.length, 1)
  const own = linksAfter.find((one) =>
    Object.values(one).join(' ').startsWith(`${provider.issuer} ada `),
  )
  assert.deepEqual(own, { issuer: provider.issuer, subject: 'ada', user_id: sessions[0]!.user_id })
  if (accountsAfter.length > accountsBefore.length) {
    const added = accountsAfter.find(({ id }) => id === sessions[0]!.user_id)
    return added?.email === null ? 'a new account without an address' : 'a new account'
  }
  assert.deepEqual(accountsAfter, accountsBefore)
  return linksAfter.length > linksBefore.length ? 'that account, linked' : 'that account'
}
