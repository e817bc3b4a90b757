import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import { at, sql, uuid } from '../../../src/database/sql.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { HOUR_US, presentInstant } from '../../../src/model/instant.ts'
import type { OpenDatabase } from '../../fixtures/dashboard.ts'
import { startSite, type TestSite, titleOf } from '../../fixtures/oidc/site.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { connect } from './connecting.ts'
import { recordsOf, setBanned } from '../../fixtures/records.ts'

const OPERATOR = operatorAt(presentInstant())
const EMAIL = 'ada@example.com'
const OPERATORS = ['ops@example.com']
const REFUSED = sql`
  SELECT subject, user_id FROM audit_log WHERE action = 'identity refused'
  ORDER BY occurred_at, audit_log.id`

/** What a person's provider says, what the site has, and the title of the page. */
interface Case {
  claims: Record<string, unknown>
  /** Returns the id of the user that the refusal is about. */
  make?(site: TestSite): Promise<string>
  page: string
}

const CASES: Record<string, Case> = {
  'no account': {
    claims: { email: EMAIL, email_verified: true },
    page: 'No account',
  },
  'address missing': { claims: {}, page: 'No account' },
  'address not verified': {
    claims: { email: EMAIL, email_verified: 'true' },
    page: 'No account',
  },
  'address not usable': {
    claims: { email: 'adа@example.com', email_verified: true },
    page: 'No account',
  },
  'address of an operator': {
    claims: { email: OPERATORS[0], email_verified: true },
    page: 'No account',
  },
  'account disabled': {
    claims: { email: EMAIL, email_verified: true },
    async make({ store }) {
      const user = createUser(EMAIL)
      await recordsOf(store).insertUser(user, OPERATOR)
      await recordsOf(store).setDisabled(user.id, true, OPERATOR)
      return user.id
    },
    page: 'Account disabled',
  },
  'account banned': {
    claims: { email: EMAIL, email_verified: true },
    async make({ store }) {
      const user = createUser(EMAIL, '4711')
      await recordsOf(store).insertUser(user, OPERATOR)
      await setBanned(store, user.id, OPERATOR.at)
      return user.id
    },
    page: 'Account banned',
  },
  'account has another sign-in': {
    claims: { email: EMAIL, email_verified: true },
    make: async ({ signedIn }) => (await signedIn()).user.id,
    page: 'Connect your account first',
  },
}

/** Why a sign-in came to nothing: on the page, in the log and in the audit log. */
export function refusalsSuite(open: OpenDatabase): void {
  test('each refused sign-in says why, on the page, in the log and in the audit log', async (t) => {
    const site = await startSite(t, open, { operators: OPERATORS })
    const { provider, visitor, come, rows, store, faults } = site
    const guide = readFileSync(join(ROOT, 'docs/site-sign-in.md'), 'utf8')
    for (const [reason, { claims, make, page }] of Object.entries(CASES)) {
      assert.ok(guide.includes(`\n| \`${reason}\` | `), `the page has no line for "${reason}"`)
      await store.database.run(sql`DELETE FROM users`)
      await store.database.run(sql`DELETE FROM audit_log`)
      faults.length = 0
      const userId = (await make?.(site)) ?? null
      provider.people['4711'] = claims
      const answer = await come(visitor(), '4711')
      assert.equal(titleOf(answer), page, reason)
      assert.match(answer.body, /Nothing was changed\./, reason)
      const subject = `${reason}: ${provider.issuer} 4711`
      assert.deepEqual(await rows(REFUSED), [{ subject, user_id: userId }])
      assert.deepEqual(faults.map(String), [
        `SignInRefused: ${reason}: the subject "4711" of ${provider.issuer}`,
      ])
    }
  })

  test('within an hour one entry stands for all, and the log has each', async (t) => {
    const { visitor, come, rows, store, faults, provider } = await startSite(t, open)
    const browser = provider.browser()
    for (const entries of [1, 1, 2]) {
      const hourAgo = at(presentInstant() - HOUR_US)
      if (entries === 2)
        await store.database.run(sql`UPDATE audit_log SET occurred_at = ${hourAgo}`)
      assert.equal((await come(visitor(), 'max', browser)).status, 403)
      assert.equal((await rows(REFUSED)).length, entries)
    }
    assert.equal(faults.length, 3)
  })

  test('a refused connection or confirmation names the account of the session', async (t) => {
    const site = await startSite(t, open, { provided: { signUp: 'open' } })
    const { provider, signedIn, arrived, age, come, rows } = site
    await arrived('max')
    const bob = await signedIn('bob@example.com')
    await connect(site, bob.person, 'max')
    for (let twice = 0; twice < 2; twice += 1)
      assert.equal((await connect(site, bob.person, 'ada')).status, 303)
    await age()
    const path = '/sign-in/oidc/confirm?next=%2Fdashboard%2Fapi'
    await come(bob.person, 'eve', provider.browser(), path)
    assert.deepEqual(
      await rows(REFUSED),
      ['max', 'eve'].map((name) => ({
        subject: `another account: ${provider.issuer} ${name}`,
        user_id: bob.user.id,
      })),
    )
    const { body } = await bob.person.get('/dashboard/account')
    assert.match(body, /A sign-in was refused: <bdi>another account: http/)
    await site.store.database.run(sql`DELETE FROM users WHERE id = ${uuid(bob.user.id)}`)
    assert.equal((await rows(REFUSED)).length, 2)
  })

  test('an error that a visitor types is a warning, and no diagnosis of the settings', async (t) => {
    const { visitor, leave, faults, rows, provider } = await startSite(t, open)
    for (const [typed, title, logged] of [
      ['error=invalid_client', 'Not signed in', 'invalid_client'],
      ['error=OAUTH_TIMEOUT', 'Not signed in', 'OAUTH_TIMEOUT'],
      ['error=a%0Ab', 'Not signed in', 'no valid code'],
      [`error=${'x'.repeat(5_000)}`, 'Not signed in', 'no valid code'],
      ['error=', 'Not signed in', 'no valid code'],
      ['error=access_denied', 'Not signed in', null],
      ['id_token=a.b.c', 'Start again', null],
      ['token=x', 'Start again', null],
      ['response=a.b.c', 'Start again', null],
      ['code=a&code=b', 'Start again', null],
      ['', 'Start again', null],
    ] as const) {
      faults.length = 0
      const person = visitor()
      const state = new URL(await leave(person)).searchParams.get('state')
      const iss = encodeURIComponent(provider.issuer)
      const answer = await person.get(`/sign-in/oidc/callback?${typed}&state=${state}&iss=${iss}`)
      assert.equal(titleOf(answer), title, typed)
      assert.doesNotMatch(answer.body, /invalid_client|xxx/, typed)
      assert.deepEqual(
        faults.map(String),
        logged === null
          ? []
          : [
              `SignInError: a browser brought the error ${logged} in its address, as if from ${provider.issuer}`,
            ],
      )
    }
    assert.deepEqual(await rows(REFUSED), [])
  })
}
