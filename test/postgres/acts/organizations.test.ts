import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { idOf, openSite, type Site } from './site.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const MEMBERS = `SELECT concat_ws(' ', slug, coalesce(external_id, email), role) AS member FROM members
  JOIN organizations ON organizations.id = organization_id JOIN users ON users.id = user_id ORDER BY 1`

async function membersOf({ own }: Site): Promise<unknown[]> {
  return (await own(MEMBERS)).map((row) => row.member)
}

const refusedTo = (called: object) => [{ row: 0, ...called, reason: 'of another account' }]

const red = { slug: 'red', name: 'Red', external_id: '1' }
const member = (external_id: string, role: string, slug = 'red') => ({ slug, external_id, role })

async function openRed(t: Parameters<typeof openSite>[0]): Promise<Site> {
  const site = await openSite(t, server)
  await site.call('put_users', [{ external_id: '1' }, { external_id: '2' }, { external_id: '3' }])
  assert.deepEqual(await site.call('put_organizations', [red]), {
    added: 1,
    changed: 0,
    refused: [],
  })
  return site
}

test('a site makes, renames and removes organizations', async (t) => {
  const { call, own } = await openRed(t)
  const rows = [
    { ...red, name: ' Rot ', external_id: '9' },
    { slug: 'blue', name: 'Blue', external_id: '9' },
  ]
  assert.deepEqual(await call('put_organizations', rows), {
    added: 0,
    changed: 1,
    refused: [{ row: 1, slug: 'blue', reason: 'no such user' }],
  })
  assert.deepEqual(await own('SELECT slug, name FROM organizations'), [
    { slug: 'red', name: 'Rot' },
  ])
  const row = { id: idOf(1), external_id: '1', name: 'N', address: 'a' }
  await call('put_servers', [{ ...row, organization: 'red' }])
  const both = [{ slug: 'red' }, { slug: 'blue' }]
  assert.deepEqual(await call('remove_organizations', both), {
    removed: 0,
    refused: [{ row: 0, slug: 'red', reason: 'has servers' }],
  })
  assert.deepEqual(await call('put_servers', [{ ...row, organization: null }]), {
    added: 0,
    changed: 1,
    refused: [],
  })
  assert.deepEqual(await call('remove_organizations', both), { removed: 1, refused: [] })
  const entries = await own('SELECT action FROM audit_log ORDER BY id')
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['organization made', 'organization renamed', 'organization deleted'],
  )
})

test('a site changes members, and the last owner stays', async (t) => {
  const site = await openRed(t)
  const { call } = site
  const rows = [
    member('1', 'member'),
    member('2', 'owner'),
    member('3', 'member'),
    member('9', 'member'),
    member('1', 'member', 'blue'),
  ]
  assert.deepEqual(await call('put_members', rows), {
    added: 2,
    changed: 1,
    refused: [
      { row: 3, slug: 'red', external_id: '9', reason: 'no such user' },
      { row: 4, slug: 'blue', external_id: '1', reason: 'no such organization' },
    ],
  })
  const present = ['red 1 member', 'red 2 owner', 'red 3 member']
  assert.deepEqual(await membersOf(site), present)
  const last = { row: 0, slug: 'red', external_id: '2', reason: 'last owner' }
  assert.deepEqual(await call('put_members', [member('2', 'member')]), {
    added: 0,
    changed: 0,
    refused: [last],
  })
  const leaving = ['2', '3', '9'].map((external_id) => ({ slug: 'red', external_id }))
  assert.deepEqual(await call('remove_members', leaving), { removed: 1, refused: [last] })
  assert.deepEqual(await membersOf(site), present.slice(0, 2))
})

test('an organization of another account is out of reach', async (t) => {
  const site = await openRed(t)
  await site.own(`
    INSERT INTO users (id, email) VALUES ('${idOf(99)}', 'root@example.com');
    INSERT INTO members SELECT id, '${idOf(99)}', 'owner', now() FROM organizations`)
  const { name: _, external_id: __, ...slug } = red
  assert.deepEqual((await site.call('put_organizations', [red])).refused, refusedTo(slug))
  assert.deepEqual((await site.call('remove_organizations', [slug])).refused, refusedTo(slug))
  const own = { slug: 'red', external_id: '1' }
  assert.deepEqual((await site.call('put_members', [member('1', 'owner')])).refused, refusedTo(own))
  assert.deepEqual((await site.call('remove_members', [own])).refused, refusedTo(own))
  assert.deepEqual(await membersOf(site), ['red 1 owner', 'red root@example.com owner'])
})

test('a removed user leaves organizations as a command removes one', async (t) => {
  const site = await openRed(t)
  const { call, own } = site
  await call('put_organizations', [{ slug: 'own', name: 'Own', external_id: '1' }])
  await call('put_members', [
    { ...member('2', 'member'), joined_at: '2026-01-02T00:00:00Z' },
    { ...member('3', 'member'), joined_at: '2026-01-01T00:00:00Z' },
  ])
  const row = { external_id: '1', name: 'N', address: 'a' }
  await call('put_servers', [
    { ...row, id: idOf(1) },
    { ...row, id: idOf(2), organization: 'red', slug: 'two' },
    { ...row, id: idOf(3), organization: 'own' },
  ])
  await own(`INSERT INTO servers (id, created_by, organization_id, name, host_label, slug)
    SELECT '${idOf(4)}', users.id, organizations.id, 'left', 'b', 'left' FROM users, organizations
    WHERE external_id = '2' AND organizations.slug = 'own'`)
  assert.deepEqual(await call('remove_users', [{ external_id: '1' }]), { removed: 1, refused: [] })
  assert.deepEqual(await membersOf(site), ['red 2 member', 'red 3 owner'])
  assert.deepEqual(
    await own(`SELECT servers.id, external_id, organization_id IS NULL AS is_personal, slug, status
      FROM servers JOIN users ON users.id = created_by ORDER BY 1`),
    [
      { id: idOf(2), external_id: '3', is_personal: false, slug: 'two', status: 'published' },
      { id: idOf(4), external_id: '2', is_personal: true, slug: null, status: 'draft' },
    ],
  )
})
