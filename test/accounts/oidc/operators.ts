import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPasswords } from '../../../src/accounts/sign-in/passwords.ts'
import { createUser } from '../../../src/accounts/user.ts'
import { sql } from '../../../src/database/sql.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { type OpenDatabase, PASSWORD } from '../../fixtures/dashboard.ts'
import { startSite, titleOf } from '../../fixtures/oidc/site.ts'
import type { Person } from '../../fixtures/person.ts'
import { recordsOf } from '../../fixtures/records.ts'

const OPERATOR = operatorAt(presentInstant())
const BY_GROUP = { provided: { signUp: 'open', operatorGroup: 'operators' } } as const

const isOperator = async (person: Person): Promise<boolean> =>
  (await person.get('/dashboard/operator')).status === 200

/** Who is an operator. */
export function operatorsSuite(open: OpenDatabase): void {
  test('the group decides at every sign-in, also that the user is no operator any more', async (t) => {
    const { provider, arrived, leave, visitor } = await startSite(t, open, BY_GROUP)
    assert.match(await leave(visitor()), /scope=openid\+email\+groups&/)
    const first = await arrived('ada')
    assert.equal(await isOperator(first), true)
    assert.equal(await isOperator(await arrived('max')), false)

    provider.people.ada = { ...provider.people.ada, groups: ['staff'] }
    assert.equal(await isOperator(first), true, 'until the next sign-in')
    const second = await arrived('ada')
    assert.equal(await isOperator(second), false)
    assert.equal(await isOperator(first), false, 'in every session')
  })

  test('only a list with the whole name of the group counts', async (t) => {
    const { provider, arrived } = await startSite(t, open, BY_GROUP)
    const many = Array.from({ length: 1_000 }, (_, index) => `group ${index}`)
    for (const [groups, expected] of [
      [[...many, 'operators'], true],
      [many, false],
      ['operators', false],
      ['staff,operators', false],
      [['staff operators'], false],
      [['Operators'], false],
      [[['operators']], false],
      [{ operators: true }, false],
      [null, false],
      [undefined, false],
    ] as const) {
      provider.people.ada = { groups }
      assert.equal(
        await isOperator(await arrived('ada')),
        expected,
        JSON.stringify(groups)?.slice(-80),
      )
    }
  })

  test('an operator by group confirms at the provider before each act, and only within the group', async (t) => {
    const { provider, arrived, age, come, store } = await startSite(t, open, BY_GROUP)
    const [ops, mia] = [await arrived('ada'), await arrived('max')]
    const { users: found } = await recordsOf(store).searchUsers('')
    const path = `/dashboard/operator/users/${found[0]!.id}/sign-out`
    const kim = createUser('kim@example.com')
    await recordsOf(store).insertUser(kim, OPERATOR)
    const link = await ops.get(`/dashboard/operator/users/${kim.id}/link`)
    assert.match(link.body, /a first sign-in with <bdi>Example<\/bdi> no longer finds it by its/)

    await age()
    assert.equal((await ops.get(path)).status, 200)
    const refused = await ops.post(path)
    assert.equal(refused.status, 403)
    assert.doesNotMatch(refused.body, /type="password"/)
    assert.match(
      refused.body,
      /You signed in more than 10 minutes ago\. Sign in with <bdi>Example<\/bdi> again to end all/,
    )
    const way = /href="(\/sign-in\/oidc\/confirm[^"]+)"/.exec(refused.body)![1]!
    assert.equal((await mia.get('/dashboard/account')).status, 200)
    const answer = await come(ops, 'ada', provider.browser(), way)
    assert.equal(answer.headers.location, path)
    assert.equal((await ops.post(path)).status, 303)
    assert.equal((await mia.get('/dashboard/account')).status, 303)

    await age()
    provider.people.ada = { ...provider.people.ada, groups: ['staff'] }
    await come(ops, 'ada', provider.browser(), way)
    assert.equal((await ops.get(path)).status, 404)
    assert.equal((await ops.post(path)).status, 404)
  })

  test('a link needs the password of an operator by group who has one, not another sign-in', async (t) => {
    const { arrived, age, store } = await startSite(t, open, BY_GROUP)
    await arrived('ada')
    const [ada] = (await recordsOf(store).searchUsers('')).users
    const password = await createPasswords().hash(PASSWORD)
    await recordsOf(store).setPassword(ada!.id, password, OPERATOR)
    const ops = await arrived('ada')
    const kim = createUser('kim@example.com')
    await recordsOf(store).insertUser(kim, OPERATOR)
    const path = `/dashboard/operator/users/${kim.id}/link`
    for (const makeOlder of [async () => {}, age]) {
      await makeOlder()
      const refused = await ops.post(path)
      assert.equal(refused.status, 403)
      assert.match(refused.body, /type="password"/)
      assert.doesNotMatch(refused.body, /oidc\/confirm/)
      assert.match(refused.body, /Enter your password to create a sign-in link\./)
    }
    assert.equal((await ops.post(path, { password: PASSWORD })).status, 200)
  })

  test('the right of a group lasts at most 12 hours', async (t) => {
    const { arrived, elapse } = await startSite(t, open, BY_GROUP)
    const person = await arrived('ada')
    elapse(12 * 3_600_000 - 60_000)
    assert.equal(await isOperator(person), true)
    elapse(60_000)
    assert.equal(await isOperator(person), false)
    assert.equal((await person.get('/dashboard/account')).status, 200)
  })

  test('without OIDC_OPERATOR_GROUP no group makes an operator', async (t) => {
    const { arrived } = await startSite(t, open, { provided: { signUp: 'open' } })
    assert.equal(await isOperator(await arrived('ada')), false)
  })

  test('no claim brings an address of OPERATORS', async (t) => {
    const operators = ['ada@example.com']
    const site = await startSite(t, open, { operators, provided: { signUp: 'open' } })
    const { store, visitor, come, rows } = site
    assert.equal(titleOf(await come(visitor(), 'ada')), 'No account')
    assert.deepEqual(await rows(sql`SELECT id FROM users`), [])
    await recordsOf(store).insertUser(createUser('ada@example.com'), OPERATOR)
    assert.equal(titleOf(await come(visitor(), 'ada')), 'No account')
    assert.deepEqual(await rows(sql`SELECT subject FROM identities`), [])
  })

  test('OPERATORS counts for no address from the provider and no account with an external id', async (t) => {
    const database = await open(t)
    const before = await startSite(t, async () => database, { provided: { signUp: 'open' } })
    await before.arrived('ada')
    await before.close()

    const operators = ['ada@example.com', 'eve@example.com', 'bob@example.com']
    const site = await startSite(t, async () => database, { operators })
    const { store, provider, visitor, arrived } = site
    const hash = await createPasswords().hash(PASSWORD)
    const [ada] = await site.rows(sql`SELECT id FROM users`)
    await recordsOf(store).setPassword(String(ada?.id), hash, OPERATOR)
    for (const [email, external] of [
      ['eve@example.com', '4711'],
      ['bob@example.com', null],
    ] as const)
      await recordsOf(store).insertUserWithPassword(
        createUser(email, external),
        hash,
        'user added',
        OPERATOR,
      )
    for (const [email, expected] of [
      ['ada@example.com', false],
      ['eve@example.com', false],
      ['bob@example.com', true],
    ] as const) {
      const person = visitor()
      await person.signIn(email, PASSWORD)
      assert.equal((await person.get('/dashboard/account')).status, 200)
      assert.equal(await isOperator(person), expected, email)
    }
    provider.people.ada = {}
    await site.store.database.run(sql`UPDATE identities SET issuer = ${provider.issuer}`)
    assert.equal(await isOperator(await arrived('ada')), false)
  })
}
