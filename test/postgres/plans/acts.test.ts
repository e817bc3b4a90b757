import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { idOf, openSite } from '../acts/site.ts'

/*
 * An act of one row reads the rows that it is about, and no table as a whole: in a session that has
 * just begun, after PostgreSQL keeps one plan for all values, and after an act of 20,000 rows.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const [USERS, SERVERS] = [20_000, 60_000]
/** More calls than PostgreSQL makes before it keeps a plan for all values. */
const CALLS = 7
/** A node of a plan for one row reads at most so many. */
const READ_MAX = 100

const hash = (n: number) => n.toString(16).padStart(64, '0')
const one = { id: idOf(7), external_id: '7', name: 'One', address: 'a' }
const red = { slug: 'red', external_id: '7' }

const ACTS: [act: string, row: object][] = [
  ['put_users', { external_id: 'new', email: 'new@example.com' }],
  ['put_users', { external_id: '7', email: 'seven@example.com' }],
  ['put_users', { external_id: '7', email: '8@example.com' }],
  ['put_users', { external_id: '7', banned_at: '2026-01-01T00:00:00Z' }],
  ['put_users', { external_id: '7', banned_at: null }],
  ['put_servers', { ...one, id: idOf(1_000_000) }],
  ['put_servers', one],
  ['put_servers', { ...one, organization: 'red' }],
  ['put_servers', { ...one, external_id: '8' }],
  ['remove_servers', { id: idOf(7) }],
  ['put_keys', { external_id: '7', name: 'new', key_hash: hash(0) }],
  ['put_keys', { external_id: '7', name: 'other', key_hash: hash(7) }],
  [
    'put_keys',
    { ...red, slug: undefined, name: 'bot', key_hash: hash(7), revoked_at: '2026-01-01T00:00:00Z' },
  ],
  ['revoke_keys', { external_id: '7', key_hash: hash(7) }],
  ['revoke_keys', { external_id: '7', id: idOf(7) }],
  ['put_organizations', { ...red, name: 'Rot' }],
  ['put_organizations', { ...red, slug: 'new', name: 'New' }],
  ['put_members', { ...red, external_id: '8', role: 'member' }],
  ['put_members', { ...red, role: 'member' }],
  ['remove_members', red],
  ['remove_organizations', { slug: 'red' }],
  ['remove_users', { external_id: '7' }],
]

/** What a site has, by statements of the owner. */
const fill = (users: number, servers: number, email: string) => `
  INSERT INTO users (id, external_id, email)
  SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, n, ${email} FROM generate_series(7, ${users + 6}) AS n;
  INSERT INTO servers (id, created_by, name, host_label)
  SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid,
    ('00000000-0000-4000-8000-' || lpad((n % ${users} + 7)::text, 12, '0'))::uuid, 's' || n, 'a'
  FROM generate_series(7, ${servers + 6}) AS n;
  INSERT INTO api_keys (id, user_id, name, prefix, key_hash)
  SELECT id, id, 'bot', 'svc_live_', decode(lpad(to_hex(external_id::int), 64, '0'), 'hex') FROM users;
  INSERT INTO organizations VALUES ('${idOf(1)}', 'red', 'Red');
  INSERT INTO members VALUES ('${idOf(1)}', '${idOf(7)}', 'owner', now())`

const DATABASES: [name: string, fill: string][] = [
  ['nearly empty', fill(2, 2, `n || '@example.com'`)],
  ['nearly empty and analyzed', `${fill(2, 2, `n || '@example.com'`)}; ANALYZE`],
  ['full', `${fill(USERS, SERVERS, `n || '@example.com'`)}; ANALYZE`],
  ['full and without addresses', fill(USERS, SERVERS, 'NULL')],
]

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Index Cond'?: string
  'Recheck Cond'?: string
  'TID Cond'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Node[]
}

for (const [name, sql] of DATABASES)
  test(`no act of one row reads a table of a database that is ${name}`, async (t) => {
    const { url, own } = await openSite(t, server)
    await own(sql)
    const session = await explained(url)
    t.after(session.end)
    for (const [act, row] of ACTS) await session.check(act, row)
    if (name !== 'full') return
    await session.runLarge()
    for (const [act, row] of ACTS) await session.check(act, row)
  })

test('an act takes 100,000 rows, and names a mistake in the last one', async (t) => {
  const { call } = await openSite(t, server)
  const users: object[] = Array.from({ length: 100_000 }, (_, n) => ({ external_id: `${n}` }))
  assert.equal((await call('put_users', users)).added, 100_000)
  assert.equal((await call('put_users', users)).changed, 0)
  await assert.rejects(call('put_users', [...users.slice(1), { external_id: 1 }]), {
    message: /^put_users\[99999\]\.external_id: /,
  })
})

/** A session that gets the plan of each statement, those inside of functions too. */
async function explained(url: string) {
  const { username: schema } = new URL(url)
  const client = new pg.Client(url.replace(/\/\/[^@]*@/, '//postgres:secret@'))
  const nodes: Node[] = []
  client.on('error', () => {})
  client.on('notice', ({ message = '' }) => {
    const plan = /^duration: .* plan:\n(.*)$/s.exec(message)?.[1]
    if (plan === undefined) return
    const read = below((JSON.parse(plan) as { Plan: Node }).Plan)
    // A trigger of the schema of 0.1.0 joins the rows that a statement added.
    if (read.every((node) => node['Node Type'] !== 'Named Tuplestore Scan')) nodes.push(...read)
  })
  await client.connect()
  await client.query(`LOAD 'auto_explain'; SET search_path = ${schema};
    SET auto_explain.log_nested_statements = on; SET auto_explain.log_level = notice;
    SET auto_explain.log_analyze = on; SET auto_explain.log_timing = off; SET auto_explain.log_format = json`)
  const call = (act: string, rows: object[]) =>
    client.query(`SELECT ${act}($1)`, [JSON.stringify(rows)])
  return {
    end: () => client.end(),
    async check(act: string, row: object) {
      for (let n = 0; n < CALLS; n += 1) {
        await client.query('BEGIN; SET LOCAL auto_explain.log_min_duration = 0')
        await call(act, [row])
        await client.query(`SELECT * FROM keys_of('7'); ROLLBACK`)
      }
      assert.ok(nodes.length > CALLS)
      const scans = nodes.splice(0).filter(isScan).map(nameOf)
      assert.deepEqual([...new Set(scans)], [], `${act} ${JSON.stringify(row)}`)
    },
    async runLarge() {
      const numbers = Array.from({ length: USERS }, (_, index) => index + 7)
      await client.query('BEGIN')
      await call(
        'put_users',
        numbers.map((n) => ({ external_id: `${n}`, email: `x${n}@example.com` })),
      )
      await call(
        'put_servers',
        numbers.map((n) => ({ ...one, id: idOf(n), external_id: `${n}` })),
      )
      await call(
        'put_keys',
        numbers.map((n) => ({ external_id: `${n}`, name: 'x', key_hash: hash(n) })),
      )
      await call(
        'revoke_keys',
        numbers.map((n) => ({ external_id: `${n}`, id: idOf(n) })),
      )
      await call(
        'remove_servers',
        numbers.map((n) => ({ id: idOf(n) })),
      )
      await client.query('ROLLBACK')
    },
  }
}

const below = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(below)]

function isScan(node: Node): boolean {
  const table = node['Relation Name']
  // The addresses of operators are few.
  if (table === undefined || table === 'operator_addresses') return false
  if (!node['Node Type'].endsWith('Scan')) return false
  const found = node['Index Cond'] ?? node['Recheck Cond'] ?? node['TID Cond']
  const removed = node['Rows Removed by Filter'] ?? 0
  return found === undefined || (node['Actual Rows'] + removed) * node['Actual Loops'] > READ_MAX
}

const nameOf = (node: Node) => `${node['Node Type']} of ${node['Relation Name']}`
