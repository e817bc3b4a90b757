import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Accounts, createAccounts } from '../../../src/accounts/sign-in/accounts.ts'
import { DAY_US, presentInstant } from '../../../src/model/instant.ts'
import { ACTIVITY_STEP_US, SESSIONS_MAX } from '../../../src/accounts/sessions.ts'
import type { Store } from '../../../src/database/store.ts'
import { createUser, type User } from '../../../src/accounts/user.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR } from '../people.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { recordsOf } from '../../fixtures/records.ts'

const EMAIL = 'ada@example.com'
/** The hash of `old password` at the cost of `makePasswordsCheap`. */
const OLD_HASH =
  '$argon2id$v=19$m=8,t=1,p=1$YSBzYWx0IG9mIDE2IGJ5Lg$a+f3CCmjVWFS7U5Rqb33/15Fb4CSFieHuRs8cmCrbUw'
const ROUNDS = 200
const BROWSER = { userAgent: 'Browser/1', address: '192.0.2.1' }

/** Sign-in on a store: sessions, and how a new password ends them. */
export function sessionContract(open: OpenFixture): void {
  test('no session of an old password outlives a change of that password', async (t) => {
    const { store, second, accounts, user } = await openAccounts(t, open)
    const hash = await accounts.hashPassword('password 0')
    await recordsOf(store).setPassword(user.id, hash, OPERATOR)
    let begun = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      const next = await accounts.hashPassword(`password ${round + 1}`)
      const changing = round % 2 === 0 ? store : second
      const [signedIn] = await Promise.all([
        accounts.signIn(EMAIL, `password ${round}`, BROWSER),
        delay(round % 10).then(() => recordsOf(changing).setPassword(user.id, next, OPERATOR)),
      ])
      if (signedIn === null) continue
      begun += 1
      assert.equal(await readSession(accounts, signedIn.cookies), null, `round ${round}`)
    }
    t.diagnostic(`${begun} of ${ROUNDS} sign-ins were faster than the change`)
    assert.ok(begun > 0, 'no sign-in was faster than the change')
  })

  test('a user keeps the newest sessions, also if many begin at once', async (t) => {
    const { store, accounts, user } = await openAccounts(t, open)
    await recordsOf(store).setPassword(user.id, await accounts.hashPassword('password'), OPERATOR)
    const begin = async () => (await accounts.signIn(EMAIL, 'password', BROWSER))!.cookies
    const first = await begin()
    // Sessions of one instant have no order.
    await delay(2)
    for (let index = 1; index < SESSIONS_MAX; index += 1) await begin()
    assert.notEqual(await readSession(accounts, first), null)
    await begin()
    assert.equal(await readSession(accounts, first), null)
    const parallel = await Promise.all(Array.from({ length: SESSIONS_MAX + 10 }, begin))
    const found = await Promise.all(parallel.map((cookies) => readSession(accounts, cookies)))
    assert.equal(found.filter((session) => session !== null).length, SESSIONS_MAX)
  })

  test('concurrent sign-ins renew an old hash, but never over a new password', async (t) => {
    const { store, second, accounts, user } = await openAccounts(t, open)
    await recordsOf(store).setPassword(user.id, OLD_HASH, OPERATOR)
    assert.equal(await accounts.signIn(EMAIL, 'a wrong one', BROWSER), null)
    assert.equal(await recordsOf(store).findPasswordHash(user.id), OLD_HASH)
    const signIns = Array.from({ length: 4 }, () => accounts.signIn(EMAIL, 'old password', BROWSER))
    const begun = await Promise.all(signIns)
    for (const one of begun) assert.equal(one?.userId, user.id)
    assert.match(
      String(await recordsOf(store).findPasswordHash(user.id)),
      /^\$argon2id\$v=19\$m=32768,/,
    )

    for (let round = 0; round < 3; round += 1) {
      await recordsOf(store).setPassword(user.id, OLD_HASH, OPERATOR)
      const next = await accounts.hashPassword('a new password')
      await Promise.all([
        accounts.signIn(EMAIL, 'old password', BROWSER),
        delay(round * 60).then(() => recordsOf(second).setPassword(user.id, next, OPERATOR)),
      ])
      assert.equal(await recordsOf(store).findPasswordHash(user.id), next)
    }
  })

  test('the first known token finds the session, which ends with its user', async (t) => {
    const { store, accounts, user } = await openAccounts(t, open)
    const hash = await accounts.hashPassword('password')
    await recordsOf(store).setPassword(user.id, hash, OPERATOR)
    const now = presentInstant()
    const begin = (tokenHash: string, startedAt: number) =>
      recordsOf(store).beginSession(
        { ...BROWSER, userId: user.id, tokenHash, startedAt, expiresAt: startedAt + 1_000_000 },
        hash,
        null,
      )
    assert.equal(await begin('one', now), true)
    assert.equal(await begin('two', now + 1), true)
    assert.equal(
      await recordsOf(store).beginSession({ ...EMPTY, userId: user.id }, 'x', null),
      false,
    )

    const found = await recordsOf(store).findSession(['none', 'two', 'one'], now + 1)
    const [newest] = await recordsOf(store).listSessions(user.id, now)
    const id = newest!.id
    assert.deepEqual(found, {
      id,
      userId: user.id,
      email: EMAIL,
      externalId: null,
      listedEmail: EMAIL,
      name: EMAIL,
      startedAt: now + 1,
      lastActiveAt: now + 1,
      operatorUntil: null,
    })
    assert.equal((await recordsOf(store).findSession(['one', 'two'], now))?.startedAt, now)
    assert.equal(
      (await recordsOf(store).findSession(['one', 'two'], now + 1_000_000))?.startedAt,
      now + 1,
    )
    assert.equal(await recordsOf(store).findSession(['one', 'two'], now + 1_000_001), null)

    await recordsOf(store).endSessionsOf(['one', 'none'], OPERATOR)
    assert.equal(await recordsOf(store).findSession(['one'], now), null)
    await removeUser(store.database, user.id, OPERATOR)
    assert.equal(await recordsOf(store).findSession(['two'], now), null)
    assert.equal(await recordsOf(store).findPassword(EMAIL), null)
    assert.equal(await begin('three', now), false)
  })
}

export function sessionListContract(open: OpenFixture): void {
  test('the sessions of a user are listed, newest first, and end one by one', async (t) => {
    const { store, accounts, user } = await openAccounts(t, open)
    const hash = await accounts.hashPassword('password')
    await recordsOf(store).setPassword(user.id, hash, OPERATOR)
    const now = presentInstant()
    const begin = (index: number) =>
      recordsOf(store).beginSession(
        {
          userId: user.id,
          tokenHash: `token ${index}`,
          userAgent: `Browser/${index}`,
          address: `192.0.2.${index}`,
          startedAt: now + index,
          expiresAt: now + index + 100,
        },
        hash,
        null,
      )
    for (const index of [2, 1, 3]) assert.equal(await begin(index), true)
    const listed = await recordsOf(store).listSessions(user.id, now + 3)
    const shown = listed.map((session) => ({ ...session, id: 'any' }))
    assert.deepEqual(
      shown,
      [3, 2, 1].map((index) => ({
        id: 'any',
        userAgent: `Browser/${index}`,
        address: `192.0.2.${index}`,
        startedAt: now + index,
        lastActiveAt: now + index,
      })),
    )
    assert.equal((await recordsOf(store).listSessions(user.id, now + 101)).length, 2)
    assert.deepEqual(await recordsOf(store).listSessions(randomUUID(), now), [])

    const [newest, middle] = listed
    assert.equal(await recordsOf(store).endSession(randomUUID(), middle!.id, OPERATOR), false)
    assert.equal(await recordsOf(store).endSession(user.id, randomUUID(), OPERATOR), false)
    assert.equal(await recordsOf(store).endSession(user.id, 'not an id', OPERATOR), false)
    assert.equal((await recordsOf(store).listSessions(user.id, now)).length, 3)
    assert.equal(await recordsOf(store).endSession(user.id, middle!.id, OPERATOR), true)
    assert.equal(await recordsOf(store).endSession(user.id, middle!.id, OPERATOR), false)
    assert.equal(await recordsOf(store).findSession(['token 2'], now), null)
    assert.equal((await recordsOf(store).findSession(['token 3'], now))?.id, newest!.id)
  })
}

export function sessionActivityContract(open: OpenFixture): void {
  test('the last activity of a session moves at most once an hour', async (t) => {
    const { store, second, accounts, user } = await openAccounts(t, open)
    const hash = await accounts.hashPassword('password')
    await recordsOf(store).setPassword(user.id, hash, OPERATOR)
    const now = presentInstant()
    for (const tokenHash of ['one', 'two'])
      await recordsOf(store).beginSession(
        { ...BROWSER, userId: user.id, tokenHash, startedAt: now, expiresAt: now + DAY_US },
        hash,
        null,
      )
    const activity = async () => {
      const found = await Promise.all(
        ['one', 'two'].map((tokenHash) => recordsOf(store).findSession([tokenHash], now)),
      )
      return found.map((session) => session!.lastActiveAt - now)
    }
    const { id } = (await recordsOf(store).findSession(['one'], now))!
    const note = (at: number) => recordsOf(store).noteActivity(id, now + at)
    await note(ACTIVITY_STEP_US - 1)
    assert.deepEqual(await activity(), [0, 0])
    await note(ACTIVITY_STEP_US)
    assert.deepEqual(await activity(), [ACTIVITY_STEP_US, 0])
    // Another process had read the session before.
    await recordsOf(second).noteActivity(id, now + ACTIVITY_STEP_US + 5)
    await note(0)
    assert.deepEqual(await activity(), [ACTIVITY_STEP_US, 0])
    await recordsOf(store).noteActivity(randomUUID(), now + DAY_US)
    const listed = await recordsOf(store).listSessions(user.id, now)
    assert.deepEqual(
      listed.map(({ lastActiveAt }) => lastActiveAt - now).toSorted((a, b) => a - b),
      [0, ACTIVITY_STEP_US],
    )
  })
}

const EMPTY = { ...BROWSER, tokenHash: 'zero', startedAt: 0, expiresAt: 0 }

interface SignInFixture {
  store: Store
  second: Store
  accounts: Accounts
  user: User
}

async function openAccounts(t: TestContext, open: OpenFixture): Promise<SignInFixture> {
  const { store, openSecond } = await open(t)
  const second = await openSecond()
  t.after(second.close)
  const user = createUser(EMAIL)
  await recordsOf(store).insertUser(user, OPERATOR)
  const options = { dashboardUrl: 'http://127.0.0.1:8081', now: presentInstant }
  return { store, second, accounts: createAccounts(store.database, options), user }
}

function readSession(accounts: Accounts, cookies: readonly string[]) {
  return accounts.readSession(cookies.map((line) => line.split(';')[0]).join('; '))
}
