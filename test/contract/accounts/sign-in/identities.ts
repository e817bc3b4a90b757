import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ProvidedUser } from '../../../../src/accounts/identity.ts'
import { identities } from '../../../../src/accounts/records/identities.ts'
import { identitySignIns } from '../../../../src/accounts/records/identity-sign-ins.ts'
import { createUser } from '../../../../src/accounts/user.ts'
import type { DraftSession } from '../../../../src/accounts/sessions.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { HOUR_US } from '../../../../src/model/instant.ts'
import type { OpenFixture } from '../../fixture.ts'
import { OPERATOR, tally } from '../../people.ts'
import { recordsOf } from '../../../fixtures/records.ts'
import { NOW } from '../../../fixtures/clock.ts'

const ISSUER = 'https://id.example.com'
const OPEN = { signUp: 'open', reserved: [] } as const
const CLOSED = { signUp: 'closed', reserved: [] } as const
const ROUNDS = 20

const provided = (subject: string, email: string | null = null): ProvidedUser => ({
  issuer: ISSUER,
  subject,
  email: email === null ? 'address missing' : { verified: email },
  isOperator: false,
})

const draft = (): DraftSession => ({
  tokenHash: crypto.randomUUID(),
  userAgent: '',
  address: '192.0.2.1',
  startedAt: NOW,
  expiresAt: NOW + 1_000_000,
})

/** Identities of users, also while several processes act at once. */
export function identitiesContract(open: OpenFixture): void {
  /** Both stores, and a user with an identity and a session. */
  async function openSignedIn(t: TestContext) {
    const { store, openSecond, read, execute } = await open(t)
    const second = await openSecond()
    const session = draft()
    await recordsOf(store).signIn(provided('ada'), session, OPEN)
    const found = (await recordsOf(store).findSession([session.tokenHash], NOW))!
    return { store, second, read, execute, userId: found.userId, session: found }
  }

  test('of four first sign-ins of one person, one makes the account', async (t) => {
    const { store, openSecond, read } = await open(t)
    const second = await openSecond()
    for (let round = 0; round < ROUNDS; round += 1) {
      const email = round % 2 === 0 ? null : `u${round}@example.com`
      const person = provided(`person ${round}`, email)
      const outcomes = await Promise.all(
        [store, second, store, second].map(({ database }) =>
          identitySignIns(database).signIn(person, draft(), OPEN),
        ),
      )
      const ids = new Set(outcomes.map(({ userId, refusal }) => refusal ?? userId))
      assert.equal(ids.size, 1, [...ids].join(' '))
    }
    assert.equal((await read('SELECT id FROM users')).length, ROUNDS)
    assert.equal((await read('SELECT subject FROM identities')).length, ROUNDS)
  })

  test('two people with one address never share an account', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    for (let round = 0; round < ROUNDS; round += 1) {
      const email = `u${round}@example.com`
      if (round % 2 === 0) await recordsOf(store).insertUser(createUser(email), OPERATOR)
      const outcomes = await Promise.all(
        [store, second].map(({ database }, index) =>
          identitySignIns(database).signIn(provided(`${index} ${round}`, email), draft(), OPEN),
        ),
      )
      const taken = outcomes.filter(({ refusal }) => refusal === 'account has another sign-in')
      assert.equal(taken.length, 1, JSON.stringify(outcomes))
    }
  })

  test('an account that gets its first password meanwhile links to no identity', async (t) => {
    const { store, openSecond, read } = await open(t)
    const second = await openSecond()
    for (let round = 0; round < ROUNDS; round += 1) {
      const user = createUser(`u${round}@example.com`)
      await recordsOf(store).insertUser(user, OPERATOR)
      const [outcome] = await Promise.all([
        recordsOf(second).signIn(provided(`s${round}`, user.email), draft(), CLOSED),
        recordsOf(store).setPassword(user.id, 'hash', OPERATOR),
      ])
      const linked = await recordsOf(store).listIdentities(user.id)
      assert.equal(linked.length, outcome.refusal === 'account has another sign-in' ? 0 : 1)
    }
    assert.equal((await read('SELECT user_id FROM passwords')).length, ROUNDS)
  })

  test('one entry an hour stands for all refusals of one identity for one reason', async (t) => {
    const { store, openSecond, read } = await open(t)
    const second = await openSecond()
    const refuse = ({ database }: typeof store | typeof second, reason: string, at = NOW) =>
      identities(database).noteRefusal(provided('ada'), reason, null, operatorAt(at))
    await Promise.all([store, second, store, second].map((one) => refuse(one, 'no account')))
    await refuse(second, 'no account', NOW + HOUR_US - 1)
    await refuse(second, 'address missing')
    const noted = async () => {
      const entries = await read(
        "SELECT subject FROM audit_log WHERE action = 'identity refused' ORDER BY subject",
      )
      return entries.map(({ subject }) => subject)
    }
    const [missing, unknown] = [`address missing: ${ISSUER} ada`, `no account: ${ISSUER} ada`]
    assert.deepEqual(await noted(), [missing, unknown])
    await refuse(store, 'no account', NOW + HOUR_US)
    assert.deepEqual(await noted(), [missing, unknown, unknown])
  })

  test('one session confirms once, and only with an identity of its user', async (t) => {
    const { store, second, session } = await openSignedIn(t)
    const confirm = ({ database }: typeof store | typeof second, subject = 'ada') =>
      identitySignIns(database).confirm(session, provided(subject), draft(), 'confirmed')
    assert.equal(await confirm(store, 'eve'), false)
    const confirmed = await Promise.all([store, second, store, second].map((one) => confirm(one)))
    assert.deepEqual(tally(confirmed), { true: 1, false: 3 })
  })

  test('a confirmation outside the group takes the right of an operator from all sessions', async (t) => {
    const { store, session, read } = await openSignedIn(t)
    const operator = { ...draft(), operatorUntil: NOW + 500_000 }
    const records = recordsOf(store)
    await records.signIn({ ...provided('ada'), isOperator: true }, operator, OPEN)
    const rights = () => read('SELECT id FROM sessions WHERE operator_until IS NOT NULL')
    assert.equal((await rights()).length, 1)
    assert.equal(await records.confirm(session, provided('ada'), draft(), 'confirmed'), true)
    assert.deepEqual(await rights(), [])
  })

  test('of two users who connect one identity, one gets it', async (t) => {
    const { store, second, session, userId } = await openSignedIn(t)
    const other = draft()
    await recordsOf(store).signIn(provided('bob'), other, OPEN)
    const bob = (await recordsOf(store).findSession([other.tokenHash], NOW))!
    const shared = { ...provided('shared'), issuer: 'https://second.example.com' }
    const connected = await Promise.all([
      recordsOf(store).connect(session, shared, OPERATOR),
      recordsOf(second).connect(bob, shared, OPERATOR),
    ])
    assert.deepEqual(tally(connected), { connected: 1, 'another account': 1 })
    await recordsOf(store).endSessions(userId, OPERATOR)
    const late = await recordsOf(store).connect(session, provided('late'), OPERATOR)
    assert.equal(late, 'session ended')
  })

  test('a user connects one identity of an issuer, and that one as often as they like', async (t) => {
    const { store, second, session, userId } = await openSignedIn(t)
    const connect = ({ database }: typeof store | typeof second, subject: string) =>
      identities(database).connect(
        session,
        { issuer: 'https://second.example.com', subject },
        OPERATOR,
      )
    const connected = await Promise.all([connect(store, 'a'), connect(second, 'b')])
    assert.deepEqual(tally(connected), { connected: 1, 'too many sign-ins': 1 })
    const own = (await recordsOf(store).listIdentities(userId)).map(({ subject }) => subject)
    assert.equal(own.length, 2)
    assert.equal(await connect(store, own[1]!), 'connected')
    assert.equal((await recordsOf(store).listIdentities(userId)).length, 2)
  })

  test('identities move to another issuer, all or none', async (t) => {
    const { store, openSecond, read, execute } = await open(t)
    const [second, to] = [await openSecond(), 'https://new.example.com']
    const records = recordsOf(store)
    const arrive = (subject: string, issuer = ISSUER) => {
      const person = provided(subject, `${subject}@example.com`)
      return recordsOf(store).signIn({ ...person, issuer }, draft(), OPEN)
    }
    for (const name of ['ada', 'bob', 'cem']) await arrive(name)
    const before = await read('SELECT subject, user_id FROM identities ORDER BY subject')
    const other = createUser('other@example.com')
    await recordsOf(store).insertUser(other, OPERATOR)
    await recordsOf(store).signIn({ ...provided('bob', other.email), issuer: to }, draft(), CLOSED)
    const bob = before[1]!.user_id
    const refused = await records.moveIdentities(ISSUER, to, OPERATOR)
    assert.deepEqual(refused, { taken: { subject: 'bob', from_user: bob, to_user: other.id } })
    assert.deepEqual(await records.listIssuers(), [
      { issuer: ISSUER, count: 3 },
      { issuer: to, count: 1 },
    ])

    // The same user may have connected both.
    await execute(
      `UPDATE identities SET issuer = 'https://else.example.com' WHERE issuer = '${to}'`,
    )
    await execute(`INSERT INTO identities VALUES ('${to}', 'bob', '${String(bob)}')`)
    const moved = await Promise.all([
      records.moveIdentities(ISSUER, to, OPERATOR),
      recordsOf(second).moveIdentities(ISSUER, to, OPERATOR),
    ])
    assert.deepEqual(tally(moved.map((one) => ('moved' in one ? one.moved : one))), { 3: 1, 0: 1 })
    const after = `SELECT subject, user_id FROM identities WHERE issuer = '${to}' ORDER BY subject`
    assert.deepEqual(await read(after), before)
    assert.equal((await read('SELECT issuer FROM identities')).length, 4)
    assert.deepEqual(
      await read("SELECT DISTINCT email_issuer FROM users WHERE email_issuer <> ''"),
      [{ email_issuer: to }],
    )
    assert.deepEqual(
      await read("SELECT subject, user_id FROM audit_log WHERE action = 'identities moved'"),
      [{ subject: `3 from ${ISSUER} to ${to}`, user_id: null }],
    )
  })

  test('with passwords turned off the last identity stays, also beside a password', async (t) => {
    const { store, session, userId, execute } = await openSignedIn(t)
    await recordsOf(store).setPassword(userId, 'hash', OPERATOR)
    await execute("UPDATE users SET email = 'ada@example.com'")
    const remove = (isOn: boolean) => {
      const ways = { issuer: ISSUER, passwords: isOn }
      return recordsOf(store).remove(session, provided('ada'), ways, OPERATOR)
    }
    assert.equal(await remove(false), 'last')
    assert.equal(await remove(true), 'removed')
  })

  test('of two removals at once, one keeps the last way to sign in', async (t) => {
    const { store, second, session, userId, execute } = await openSignedIn(t)
    // As a site does.
    await execute(`INSERT INTO identities VALUES ('${ISSUER}', 'second', '${userId}')`)
    const ways = { issuer: ISSUER, passwords: true }
    const removed = await Promise.all([
      recordsOf(store).remove(session, provided('ada'), ways, OPERATOR),
      recordsOf(second).remove(session, provided('second'), ways, OPERATOR),
    ])
    assert.deepEqual(tally(removed), { removed: 1, last: 1 })
    const [left] = await recordsOf(store).listIdentities(userId)
    const again = recordsOf(store).remove(session, left!, ways, operatorAt(NOW))
    assert.equal(await again, 'last')
  })
}
