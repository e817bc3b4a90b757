import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test, type TestContext } from 'node:test'
import { openArchive } from '../../src/archive/open.ts'
import { backUpPostgres } from '../../src/archive/postgres-backup.ts'
import { preparePostgresRestore } from '../../src/archive/postgres-restore.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { asAdmin, createDatabase, removeDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { untilWaiting } from '../postgres/other-session.ts'
import {
  databaseFor,
  fill,
  idOf,
  issueKeys,
  query,
  restore,
  rowsOfPostgres,
} from './postgres-rows.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

interface Changed {
  url: string
  path: string
  /** Asserts that a restore rejects with this message, and has changed nothing. */
  refuses(message: RegExp, meanwhile?: () => Promise<unknown>): Promise<void>
}

/** A database that has changed since its archive was made. */
async function changed(t: TestContext): Promise<Changed> {
  const url = await databaseFor(t, server)
  const path = join(temporaryFolder(t), 'archive')
  await fill(url)
  await backUpPostgres(url, path)
  await query(url, `${issueKeys(1, 60)} UPDATE servers SET name = 'changed'; DELETE FROM passwords`)
  return {
    url,
    path,
    async refuses(message, meanwhile = async () => {}) {
      const before = await Promise.all([rowsOfPostgres(url), stateOf(url)])
      const restored = restore(url, path)
      await Promise.all([assert.rejects(restored, { name: 'NotRestored', message }), meanwhile()])
      assert.deepEqual(await Promise.all([rowsOfPostgres(url), stateOf(url)]), before)
      assert.deepEqual(readdirSync(dirname(path)), ['archive'])
    },
  }
}

/** Sessions, the epoch, triggers with their modes, and all relations. */
function stateOf(url: string): Promise<object[]> {
  return query(
    url,
    `SELECT id::text AS name, 'session' AS kind FROM sessions
     UNION ALL SELECT started_at::text, 'epoch' FROM service_epoch
     UNION ALL SELECT tgname, tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL SELECT relname, 'relation' FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace ORDER BY 1`,
  )
}

test('a restore refuses foreign keys, triggers and rules of other programs, by name', async (t) => {
  const { url, refuses } = await changed(t)
  await query(
    url,
    `CREATE TABLE orders (id int, of uuid CONSTRAINT orders_of_user REFERENCES users ON DELETE CASCADE);
     INSERT INTO orders VALUES (1, '${idOf(1)}')`,
  )
  const attached = 'another program has attached'
  await refuses(
    new RegExp(`cannot restore .*: ${attached} the foreign key orders_of_user of orders\\.`),
  )
  await query(
    url,
    `DROP TABLE orders;
     CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
     CREATE TRIGGER tell_shop AFTER UPDATE ON servers FOR EACH ROW EXECUTE FUNCTION tell()`,
  )
  await refuses(new RegExp(`${attached} the trigger tell_shop on servers\\.`))
  await query(
    url,
    `DROP TRIGGER tell_shop ON servers; CREATE RULE mute AS ON DELETE TO users DO INSTEAD NOTHING`,
  )
  await refuses(new RegExp(`${attached} the rule mute on users\\.`))
})

test('a restore that the server ends in the middle changes nothing', async (t) => {
  const { url, refuses } = await changed(t)
  await asAdmin(url, async (holder) => {
    await holder.query('BEGIN; LOCK TABLE listing_revisions IN SHARE MODE')
    // All rows are merged and compared by then.
    await refuses(/cannot restore .*terminat/, async () => {
      await untilWaiting(url, 1)
      await query(
        url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
    })
  })
})

test('a restore gives up if another session keeps a row locked', async (t) => {
  const { url, refuses } = await changed(t)
  await asAdmin(url, async (holder) => {
    await holder.query(`BEGIN; UPDATE api_keys SET name = 'held' WHERE name = 'one'`)
    const { rows } = await holder.query('SELECT pg_backend_pid() AS pid')
    await refuses(new RegExp(`other sessions \\(${rows[0].pid} in pg_stat_activity\\) keep locks`))
  })
})

test('a restore refuses beside another one into the same database', async (t) => {
  const { url, refuses } = await changed(t)
  await asAdmin(url, async (other) => {
    await other.query('SELECT pg_advisory_lock(7318349123)')
    await refuses(/another restore into this database is under way/)
  })
})

test('a restore names the first row that PostgreSQL stores otherwise, and changes nothing', async (t) => {
  const { url, refuses } = await changed(t)
  await query(url, 'ALTER TABLE organizations ALTER name TYPE char(20)')
  await refuses(
    new RegExp(
      `the table organizations has 1 rows instead of 1, and the row ${idOf(11)} differs in name`,
    ),
  )
})

test('a restore changes nothing if it cannot keep what it replaces', async (t) => {
  const { url, path } = await changed(t)
  const before = await rowsOfPostgres(url)
  const opened = await openArchive(path)
  t.after(() => opened.close())
  const missing = join(dirname(path), 'missing')
  const elsewhere = { ...opened, path: join(missing, 'archive') }
  const prepared = await preparePostgresRestore(url, elsewhere)
  t.after(() => prepared.close())
  await assert.rejects(prepared.apply(operatorAt(presentInstant())), {
    name: 'NotRestored',
    message:
      /cannot restore .*kept beside it first.*there is no folder .*missing\. Copy the archive/,
  })
  assert.deepEqual(await rowsOfPostgres(url), before)
})

test('a restore into a database of another program, or of a newer one, says so', async (t) => {
  const { path } = await changed(t)
  // Another program may have a ledger of the same name.
  for (const table of ['orders (id int)', 'schema_migrations (version text)']) {
    const url = await createDatabase(server)
    t.after(() => removeDatabase(server, url))
    await query(url, `CREATE TABLE ${table}`)
    await assert.rejects(restore(url, path), { name: 'NotConfigured', message: /another program:/ })
  }
  const newer = await databaseFor(t, server)
  await query(newer, `INSERT INTO schema_migrations VALUES (99, 'next', 99, now())`)
  await assert.rejects(restore(newer, path), { name: 'NotConfigured', message: /newer/ })
})

test('a backup of a database without tables, or into a folder that is missing, says so', async (t) => {
  const url = await createDatabase(server)
  t.after(() => removeDatabase(server, url))
  const path = join(temporaryFolder(t), 'archive')
  await assert.rejects(backUpPostgres(url, path), {
    name: 'NotConfigured',
    message: /no tables yet/,
  })
  const full = await databaseFor(t, server)
  await assert.rejects(backUpPostgres(full, join(path, 'none')), { name: 'NotBackedUp' })
  assert.deepEqual(readdirSync(dirname(path)), [])
})

test('a backup that the server ends in the middle leaves an older archive as it is', async (t) => {
  const { url, path } = await changed(t)
  const archived = new DatabaseSync(path, { readOnly: true })
  const [before] = archived.prepare('SELECT made_at FROM last_backup').all()
  archived.close()
  await asAdmin(url, async (holder) => {
    await holder.query('BEGIN; LOCK TABLE audit_log')
    const backedUp = backUpPostgres(url, path)
    await Promise.all([
      assert.rejects(backedUp, /terminat/),
      (async () => {
        await untilWaiting(url, 1)
        await query(
          url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
      })(),
    ])
  })
  const kept = new DatabaseSync(path, { readOnly: true })
  assert.deepEqual(kept.prepare('SELECT made_at FROM last_backup').all(), [before])
  kept.close()
  assert.deepEqual(readdirSync(dirname(path)), ['archive'])
})
