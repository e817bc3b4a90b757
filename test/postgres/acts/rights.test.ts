import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { keepOperatorAddresses } from '../../../src/accounts/records/operator-addresses.ts'
import { openPostgresStore } from '../../../src/postgres/store.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { hashOf, idOf, openSite } from './site.ts'

/*
 * What the role of a site can't do, although it owns the database.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** PostgreSQL refuses each of them with `insufficient_privilege`. */
const REFUSED = [
  `CREATE FUNCTION same(bytea, listing.sha256) RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
  `CREATE FUNCTION same(bytea, listing.sha256[]) RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
  `CREATE FUNCTION same(bytea, listing.api_keys.key_hash%TYPE) RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
  `CREATE FUNCTION same(text, listing.key_name) RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
  `CREATE FUNCTION same(smallint, listing.key_slot) RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
  'CREATE TABLE own (key_hash listing.sha256)',
  'CREATE TABLE listing.own ()',
  'ALTER TABLE listing.users DISABLE TRIGGER USER',
  'CREATE TRIGGER own AFTER UPDATE ON listing.users EXECUTE FUNCTION suppress_redundant_updates_trigger()',
  'CREATE TABLE own (key_hash bytea, revoked_at timestamptz); CREATE TRIGGER own AFTER INSERT ON own FOR EACH ROW EXECUTE FUNCTION listing.list_key()',
  `INSERT INTO listing.identities SELECT 'i', 's', gen_random_uuid()`,
  `INSERT INTO listing.operator_addresses VALUES ('x')`,
  'DELETE FROM listing.operator_addresses',
  'DELETE FROM listing.schema_migrations',
  'TRUNCATE listing.api_keys',
  `SELECT listing.renew_listings('{}')`,
  `SELECT listing.check_rows('', '[]', '{}')`,
  `SELECT listing.note('user removed', NULL, '')`,
]

test("a site's role has no right but to call the acts", async (t) => {
  const { query, own } = await openSite(t, server)
  for (const sql of REFUSED) await assert.rejects(query(sql), { code: '42501' }, sql)
  const tables = await own(`SELECT relname AS name FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v')`)
  assert.ok(tables.length > 20)
  for (const table of tables.map(({ name }) => String(name))) {
    await assert.rejects(query(`SELECT FROM listing.${table}`), { code: '42501' })
    await assert.rejects(query(`BEGIN; LOCK TABLE listing.${table} IN ACCESS SHARE MODE`), {
      code: '42501',
    })
    await query('ROLLBACK')
  }
})

test('what the site puts in the way of names has no effect in an act', async (t) => {
  const { call, query, own } = await openSite(t, server)
  await query(`
    CREATE FUNCTION mine(bytea, bytea) RETURNS boolean LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'ran as %', current_user; END $$;
    CREATE FUNCTION mine(uuid, uuid) RETURNS boolean LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'ran as %', current_user; END $$;
    CREATE FUNCTION mine(text, text) RETURNS boolean LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'ran as %', current_user; END $$;
    CREATE OPERATOR = (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = mine);
    CREATE OPERATOR = (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = mine);
    CREATE OPERATOR = (LEFTARG = text, RIGHTARG = text, FUNCTION = mine);
    CREATE FUNCTION now() RETURNS timestamptz LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'ran as %', current_user; END $$;
    CREATE FUNCTION lower(text) RETURNS text LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'ran as %', current_user; END $$;
    CREATE FUNCTION rows_in(jsonb) RETURNS text LANGUAGE sql AS 'SELECT NULL';
    CREATE TEMP TABLE users (id uuid, external_id text, email text);
    CREATE TEMP TABLE servers (id uuid);
    CREATE TEMP TABLE api_keys (id uuid);
    CREATE TEMP TABLE operator_addresses (email text);
    CREATE TEMP VIEW revoked_hashes AS SELECT mine('', '');
    SET search_path = public, pg_temp, pg_catalog;
    SET standard_conforming_strings = off;
    SET backslash_quote = on;
    SET DateStyle = 'SQL, DMY';
    SET TimeZone = 'Asia/Kathmandu';
    SET plpgsql.extra_errors = 'all'`)
  const user = { external_id: '1', email: 'ada@example.com', created_at: '2026-02-01T12:00:00Z' }
  assert.equal((await call('put_users', [user])).added, 1)
  const one = { id: idOf(1), external_id: '1', name: 'One', address: 'a' }
  assert.equal((await call('put_servers', [one])).added, 1)
  const key = { external_id: '1', name: 'bot', key_hash: hashOf('a') }
  assert.equal((await call('put_keys', [key])).added, 1)
  const { rows } = await query('SELECT name FROM listing.keys_of($1)', ['1'])
  assert.deepEqual(rows, [{ name: 'bot' }])
  assert.deepEqual(await own('SELECT email, created_at FROM users'), [
    { email: 'ada@example.com', created_at: new Date('2026-02-01T12:00:00Z') },
  ])
  await assert.rejects(call('put_users', [{ external_id: '2', created_at: '01/02/2026' }]), {
    code: '22023',
  })
  await assert.rejects(call('put_users', [{ external_id: '\u0007' }]), { code: '22023' })
  assert.equal((await call('remove_users', [{ external_id: '1' }])).removed, 1)
  assert.deepEqual(await own('SELECT FROM servers'), [])
})

test('a lock that any role can take stops no key', async (t) => {
  const { call, query } = await openSite(t, server)
  await call('put_users', [{ external_id: '1' }])
  await query(`SELECT pg_advisory_lock(oid::bigint) FROM pg_class
    WHERE relnamespace = 'listing'::regnamespace`)
  const key = { external_id: '1', name: 'bot', key_hash: hashOf('a') }
  assert.equal((await call('put_keys', [key])).added, 1)
})

test('a lock that any role can take stops no name, and a name without a row is an error', async (t) => {
  const { url, query, own } = await openSite(t, server)
  await query(`SELECT pg_advisory_lock(hashtextextended('operator addresses', 0))`)
  const store = await openPostgresStore(url, { create: false })
  t.after(() => store.close())
  await keepOperatorAddresses(store.database, ['ops@example.com'])
  assert.deepEqual(await own('SELECT email FROM operator_addresses'), [
    { email: 'ops@example.com' },
  ])
  await own('DELETE FROM name_locks WHERE number < 1024')
  await assert.rejects(keepOperatorAddresses(store.database, []), /name_locks has lost rows/)
})

test('another role may call nothing', async (t) => {
  const { query, own, schema, adminUrl } = await openSite(t, server)
  const guest = `guest_${schema}`
  await asAdmin(adminUrl, (admin) =>
    admin.query(`CREATE ROLE ${guest}; GRANT ${guest} TO ${schema.replace('listing', 'site')}`),
  )
  t.after(() => asAdmin(server.url(), (admin) => admin.query(`DROP ROLE ${guest}`)))
  await own(`GRANT USAGE ON SCHEMA ${schema} TO ${guest}`)
  await query(`SET ROLE ${guest}`)
  await assert.rejects(query(`SELECT listing.put_users('[]')`), { code: '42501' })
  const { rows } = await query(`SELECT proname FROM pg_proc
    WHERE pronamespace = 'listing'::regnamespace AND prorettype <> 'trigger'::regtype
      AND has_function_privilege(oid, 'EXECUTE')`)
  assert.deepEqual(rows, [])
})
