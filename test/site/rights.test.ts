import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { addAccount, issue } from './acts.ts'
import { buildSite } from './toy-site.ts'

/*
 * What a role with the rights of docs/site.md can't do.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const OF_ROOT = `SELECT id FROM listing.users WHERE email = 'root@a.example'`

/** PostgreSQL refuses each of them with `insufficient_privilege`. */
const REFUSED = [
  'DELETE FROM listing.api_keys',
  'TRUNCATE listing.api_keys',
  'TRUNCATE listing.users CASCADE',
  'UPDATE listing.api_keys SET last_used_at = NULL',
  'UPDATE listing.api_keys SET disabled_at = NULL',
  `UPDATE listing.api_keys SET user_id = (${OF_ROOT})`,
  'SELECT key_hash FROM listing.api_keys',
  `UPDATE listing.users SET external_id = 'x'`,
  'UPDATE listing.users SET external_id = NULL',
  'UPDATE listing.users SET id = gen_random_uuid()',
  `INSERT INTO listing.users (email) VALUES ('new@a.example')`,
  `INSERT INTO listing.users (email, external_id) VALUES ('root@a.example', NULL)
  ON CONFLICT (email) DO UPDATE SET disabled_at = now()`,
  `INSERT INTO listing.users (email, external_id) VALUES ('root@a.example', 'x')
  ON CONFLICT (email) DO UPDATE SET disabled_at = now()`,
  `INSERT INTO listing.identities (issuer, subject, user_id) ${OF_ROOT.replace('id', `'i', 's', id`)}`,
  `INSERT INTO listing.api_keys (user_id, name, prefix, key_hash) ${OF_ROOT.replace('id', `id, 'x', 'svc_live_0123456', decode(repeat('01', 32), 'hex')`)}`,
  `INSERT INTO listing.servers (created_by, name, host_label) ${OF_ROOT.replace('id', `id, 'x', 'x'`)}`,
  `UPDATE listing.servers SET created_by = (${OF_ROOT})`,
  'UPDATE listing.identities SET subject = subject',
  'DELETE FROM listing.identities',
  `INSERT INTO listing.passwords (user_id, hash) ${OF_ROOT.replace('id', `id, 'x'`)}`,
  'SELECT FROM listing.passwords',
  'SELECT FROM listing.sessions',
  'DELETE FROM listing.sessions',
  `INSERT INTO listing.sign_in_links (user_id, token_hash, expires_at) ${OF_ROOT.replace('id', `id, 'x', now()`)}`,
  'SELECT FROM listing.secrets',
  'SELECT FROM listing.audit_log',
  'SELECT FROM listing.revoked_hashes',
  `INSERT INTO listing.revoked_hashes VALUES (sha256('x'), now())`,
  'UPDATE listing.listing_revisions SET revision = gen_random_uuid()',
  'UPDATE listing.service_epoch SET started_at = now()',
  'DELETE FROM listing.schema_migrations',
  'CREATE TABLE listing.own ()',
  'ALTER TABLE listing.users DISABLE ROW LEVEL SECURITY',
  'ALTER TABLE listing.api_keys DISABLE TRIGGER USER',
  'CREATE TRIGGER own AFTER UPDATE ON listing.users EXECUTE FUNCTION mirror.users_changed()',
  'CREATE TABLE own (key_hash bytea, revoked_at timestamptz); CREATE TRIGGER own AFTER INSERT ON own FOR EACH ROW EXECUTE FUNCTION listing.list_key()',
  `SELECT listing.renew_listings('{}')`,
]

/** They succeed and find no row: the account has no external id. */
const UNFOUND = [
  `UPDATE listing.users SET email = 'other@a.example' WHERE email = 'root@a.example'`,
  `UPDATE listing.users SET disabled_at = now() WHERE email = 'root@a.example'`,
  `DELETE FROM listing.users WHERE email = 'root@a.example'`,
  `SELECT FROM listing.api_keys WHERE user_id = (${OF_ROOT})`,
  `UPDATE listing.api_keys SET revoked_at = now() WHERE user_id = (${OF_ROOT})`,
  `UPDATE listing.servers SET name = 'x' WHERE created_by = (${OF_ROOT})`,
  `DELETE FROM listing.servers WHERE created_by = (${OF_ROOT})`,
  `MERGE INTO listing.servers USING (${OF_ROOT}) AS root ON created_by = root.id
  WHEN MATCHED THEN DELETE`,
]

test("a site's role has the rights that it needs, and no others", async (t) => {
  const site = await buildSite(t, server)
  const account = await addAccount(site, 'ada@a.example')
  const { id } = await issue(site, account)
  await site.queryAs(
    'listing',
    `INSERT INTO users (email) VALUES ('root@a.example');
    INSERT INTO servers (created_by, name, host_label)
    ${OF_ROOT.replace('id', `id, 'root', 'x'`)};
    INSERT INTO api_keys (user_id, name, prefix, key_hash)
    ${OF_ROOT.replace('id', `id, 'root', 'svc_live_0123456', decode(repeat('02', 32), 'hex')`)}`,
  )
  for (const sql of REFUSED) await assert.rejects(site.query(sql), { code: '42501' }, sql)
  for (const sql of UNFOUND) assert.equal((await site.query(sql)).rowCount, 0, sql)
  const { rows } = await site.queryAs(
    'listing',
    'SELECT email, external_id, disabled_at FROM users ORDER BY email',
  )
  assert.deepEqual(rows, [
    { email: 'ada@a.example', external_id: account, disabled_at: null },
    { email: 'root@a.example', external_id: null, disabled_at: null },
  ])
  const { rows: left } = await site.queryAs(
    'listing',
    `SELECT name FROM servers WHERE created_by = (${OF_ROOT})
    UNION ALL SELECT name FROM api_keys WHERE user_id = (${OF_ROOT}) AND revoked_at IS NULL`,
  )
  assert.deepEqual(left, [{ name: 'root' }, { name: 'root' }])
  // A revoked key stays revoked.
  await site.run('revoke a key', [account, id])
  await site.query('UPDATE listing.api_keys SET revoked_at = NULL')
  const keys = await site.query('SELECT revoked_at FROM listing.api_keys')
  assert.ok(keys.rows[0].revoked_at instanceof Date)
})
