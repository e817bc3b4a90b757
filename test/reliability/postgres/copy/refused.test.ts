import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { assertRefused } from '../../../cli/command.ts'
import { freePort } from '../../../fixtures/free-port.ts'
import { type Cluster, startCluster } from '../../../fixtures/postgres/cluster.ts'
import { addAda, ledgerOn } from './ledger.ts'

/*
 * `copy` refuses some inputs before it writes and some when it compares. The target stays as it
 * was.
 */

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

test('copy refuses a served file and names the process', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  await addAda(ledger)
  await ledger.program.done('migrate', ledger.onPostgres)
  const { pid } = await ledger.program.serve()
  assertRefused(await ledger.copy(), 1, ledger.program.databasePath, `process ${pid}`, 'stop it')
  assert.equal(await ledger.countTarget(), 0)
})

test('a database with rows is refused and keeps them', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  await addAda(ledger)
  await ledger.program.done('user add bob@example.com --create', ledger.onPostgres)
  assertRefused(await ledger.copy(), 1, 'must be empty', 'users (1)')
  assert.equal(await ledger.countTarget(), 1)
  await ledger.program.done('user remove bob@example.com --yes', ledger.onPostgres)
  assertRefused(await ledger.copy(), 1, 'has rows in audit_log (2)')
  await ledger.query('DELETE FROM audit_log')
  assert.equal((await ledger.copy()).code, 0)
  assertRefused(await ledger.copy(), 1, 'users (1), organizations (1), servers (2), api_keys (2)')
})

test('a wrong source or target is a mistake in the command', async (t) => {
  const ledger = await ledgerOn(t, cluster)
  const { program, onPostgres } = ledger
  const run = (from: string, env = onPostgres.env) => program.run(`copy ${from}`, { env })
  assertRefused(await run(''), 2, '--from sqlite:<path> is missing', '--help')
  for (const url of ['postgres://ada:hunter2@host/db', 'mysql://ada:hunter2@host/db']) {
    const refused = await run(`--from ${url}`)
    assertRefused(refused, 2, '--from must name an SQLite file', `"${url.split(':')[0]}"`)
    assert.doesNotMatch(refused.stderr, /hunter2/)
  }
  assertRefused(await run('--from data/listing.db'), 2, '--from', 'sqlite:data/', 'no scheme')
  assertRefused(await run('--from sqlite:'), 2, '--from must name a file', '"sqlite:"')
  const missing = join(program.folder, 'no.db')
  assertRefused(await run(`--from sqlite:${missing}`), 2, `"${missing}"`, 'no such file')
  assert.equal(existsSync(missing), false)
  assertRefused(await run(`--from sqlite:${program.folder}`), 2, program.folder, 'no such file')

  await program.done('user add ada@example.com --create')
  const from = `--from sqlite:${program.databasePath}`
  for (const DATABASE_URL of ['', `sqlite:${program.databasePath}`])
    assertRefused(
      await run(from, { DATABASE_URL }),
      2,
      'DATABASE_URL must name the PostgreSQL',
      '.db"',
    )
  const wrong = await run(from, { DATABASE_URL: ledger.url.replace('secret', 'hunter2') })
  assertRefused(wrong, 1, 'the server refuses the user name or the password')
  assert.doesNotMatch(wrong.stderr, /hunter2/)
  const unreachable = `postgres://ada:hunter2@localhost:${await freePort()}/db`
  assertRefused(
    await run(from, { DATABASE_URL: unreachable }),
    1,
    'nothing was copied:',
    'ECONNREFUSED',
  )
  assertRefused(
    await program.run(`copy --from sqlite:${import.meta.filename}`, onPostgres),
    1,
    'not an SQLite',
  )
})

/** What another program's trigger on the target may do to an arriving row. */
const ALTERATIONS = [
  ['servers', `NEW.name := NEW.name || ' '`, /the table servers changed on the way/],
  [
    'servers',
    `NEW.updated_at := NEW.updated_at + interval '1 microsecond'`,
    /table servers changed/,
  ],
  [
    'api_keys',
    `NEW.key_hash := set_bit(NEW.key_hash, 255, 1 - get_bit(NEW.key_hash, 255))`,
    /table api_keys changed/,
  ],
  ['api_keys', `NEW.last_used_at := NULL`, /table api_keys changed on the way/],
  ['users', `NEW.email_verified := NOT NEW.email_verified`, /table users changed on the way/],
  ['api_keys', `RETURN NULL`, /the table api_keys has 2 rows, but 1 arrived/],
] as const

for (const [table, statement, complaint] of ALTERATIONS)
  test(`an altered row of ${table} is found and nothing is copied: ${statement}`, async (t) => {
    const ledger = await ledgerOn(t, cluster)
    await addAda(ledger)
    ledger.inFile((database) =>
      database.exec('INSERT INTO last_uses SELECT serial, 1769860800123457, 1, 1 FROM api_keys'),
    )
    await ledger.program.done('migrate', ledger.onPostgres)
    // Only the first row of a table, by a column that all tables have.
    await ledger.query(`
      CREATE SEQUENCE arrived;
      CREATE FUNCTION alter_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('arrived') = 1 THEN ${statement}; END IF; RETURN NEW;
      END $$;
      CREATE TRIGGER alter_row BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION alter_row();
    `)
    assertRefused(await ledger.copy(), 1, complaint)
    assert.equal(await ledger.countTarget(), 0)
    await ledger.query(`DROP TRIGGER alter_row ON ${table}`)
    assert.equal((await ledger.copy()).code, 0)
  })

test('copy names the table whose content PostgreSQL cannot store as it is', async (t) => {
  const cases = [
    [`UPDATE servers SET name = CAST(x'61ff62' AS TEXT)`, /table servers changed on the way/],
    [`UPDATE servers SET name = 'a' || char(0) || 'b'`, /rows of the table servers .*: .*0x00/],
    [
      `UPDATE servers SET id = 'no-uuid' WHERE organization_id IS NULL`,
      /rows of the table servers .*: .*"no-uuid"/,
    ],
    [`UPDATE users SET created_at = 'yesterday'`, /users\.created_at has "yesterday"/],
  ] as const
  for (const [change, complaint] of cases) {
    const ledger = await ledgerOn(t, cluster)
    await addAda(ledger)
    ledger.inFile((database) => database.exec(change))
    assertRefused(await ledger.copy(), 1, complaint)
    assert.equal(await ledger.countTarget(), 0)
  }
})
