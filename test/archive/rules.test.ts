import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { commandsIn } from '../cli/command.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { BROKEN_KINDS, breakRows } from './broken-rows.ts'
import { change, filledFile, rows, rowsOf } from './files.ts'
import { databaseFor, fill, idOf, query, rowsOfPostgres } from './postgres-rows.ts'

/*
 * `doctor`, `backup` and `restore` judge rows by the same rules, whichever program wrote them.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** A database file of three users, and commands on it. */
async function filled(t: TestContext) {
  const commands = commandsIn(t)
  mkdirSync(dirname(commands.databasePath))
  await filledFile(commands.databasePath, 3)
  const file = (name: string) => join(commands.folder, name)
  const env = { DATABASE_URL: `sqlite:${file('other.db')}` }
  return { ...commands, file, elsewhere: (args: string) => commands.run(args, { env }) }
}

for (const broken of BROKEN_KINDS)
  test(`doctor, backup and restore name ${broken.kind}, and a restore mends it`, async (t) => {
    const { databasePath, file, run, done, elsewhere } = await filled(t)
    await done(['backup', file('good')])
    breakRows(databasePath, broken)
    const { stdout, code } = await run('doctor')
    assert.ok(stdout.includes(`problem  rows: ${broken.said}\n         → `), stdout)
    assert.equal(code, 1)

    const made = await run(['backup', file('archive')])
    assert.equal(made.code, 0, made.stderr)
    const warning = `warning: \`restore\` refuses this archive, which has ${broken.said}\n  → `
    assert.ok(made.stderr.includes(warning), made.stderr)

    await filledFile(file('other.db'), 1)
    const content = rowsOf(file('other.db'))
    for (const from of [file('archive'), databasePath]) {
      const refused = await elsewhere(`restore --yes ${from}`)
      assert.equal(refused.code, 1)
      const why = `error: cannot restore ${from}: some of its rows break rules of the schema. `
      assert.ok(refused.stderr.startsWith(why), refused.stderr)
      assert.ok(refused.stderr.includes(`\n${broken.said}\n  → `), refused.stderr)
      assert.deepEqual(rowsOf(file('other.db')), content)
    }
    const url = await databaseFor(t, server)
    await fill(url)
    const before = await rowsOfPostgres(url)
    const refused = await run(['restore', '--yes', file('archive')], { env: { DATABASE_URL: url } })
    assert.ok(refused.stderr.includes(`\n${broken.said}\n  → `), refused.stderr)
    assert.deepEqual(await rowsOfPostgres(url), before)

    if (broken.isSchemaChanged) return
    const restored = await run(['restore', '--yes', '--json', file('good')])
    assert.equal(restored.code, 0, restored.stderr)
    assert.match(
      (await run('doctor')).stdout,
      /^ok {7}rows: all rows keep the rules of the schema$/m,
    )
    const { kept } = JSON.parse(restored.stdout)
    assert.ok((await elsewhere(`restore --yes ${kept}`)).stderr.includes(broken.said))
  })

test('a restore compares text by its bytes, whatever the columns of the archive do', async (t) => {
  const { databasePath, file, done } = await filled(t)
  const url = await databaseFor(t, server)
  const env = { DATABASE_URL: url }
  await done(['backup', file('archive')])
  await done(['restore', '--yes', file('archive')], { env })
  change(
    file('archive'),
    'ALTER TABLE servers DROP COLUMN name',
    `ALTER TABLE servers ADD COLUMN name TEXT NOT NULL DEFAULT 's' COLLATE NOCASE`,
  )
  await done(['restore', '--yes', file('archive')])
  await done(['restore', '--yes', file('archive')], { env })
  assert.deepEqual(rows(databasePath, 'SELECT DISTINCT name FROM servers'), [['s']])
  assert.deepEqual(await query(url, 'SELECT DISTINCT name FROM servers'), [{ name: 's' }])
})

test('the longest text of each index goes to PostgreSQL', async (t) => {
  const { databasePath, file, run, done } = await filled(t)
  const hashes = Array.from({ length: 70 }, (_, index) => hash('sha256', `${index}`, 'base64url'))
  // No compression makes it shorter.
  const long = (length: number) => `'${hashes.join('').slice(0, length)}'`
  const lower = long(2_600).toLowerCase()
  change(
    databasePath,
    `UPDATE users SET email = ${lower} WHERE id = '${idOf(1)}'`,
    `INSERT INTO identities VALUES (${long(1_300)}, ${long(1_300)}, '${idOf(1)}')`,
    `INSERT INTO organizations VALUES ('${idOf(1)}', ${long(2_600)}, 'Guild')`,
    `INSERT INTO invitations VALUES ('${idOf(1)}', '${idOf(1)}', ${lower}, '${idOf(1)}', 1)`,
    `UPDATE servers SET slug = ${long(2_600)}, host_label = ${long(2_600)}`,
  )
  await done(['backup', file('archive')])
  const env = { DATABASE_URL: await databaseFor(t, server) }
  await done(['restore', '--yes', file('archive')], { env })
  assert.match((await run('doctor', { env })).stdout, /^ok {7}rows: all rows keep/m)
})

test('doctor names triggers that are gone or changed, and a restore makes them anew', async (t) => {
  const { databasePath, file, run, done } = await filled(t)
  await done(['backup', file('archive')])
  assert.match((await run('doctor')).stdout, /^ok {7}triggers: all triggers of the schema fire$/m)
  change(
    databasePath,
    'DROP TRIGGER users_disabled',
    'DROP TRIGGER api_keys_changed',
    'CREATE TRIGGER api_keys_changed AFTER DELETE ON api_keys BEGIN SELECT 1; END',
  )
  const { code, stdout } = await run('doctor')
  assert.equal(code, 1)
  assert.match(stdout, /problem {2}triggers: .*: users_disabled, api_keys_changed\./)
  await done(['restore', '--yes', file('archive')])
  assert.match((await run('doctor')).stdout, /^ok {7}triggers: /m)
})

test('doctor names what restores have left beside the database, until it is deleted', async (t) => {
  const { databasePath, file, run, done } = await filled(t)
  await done(['backup', file('archive')])
  const said = async () => /^warning {2}replaced: .*\n.*$/m.exec((await run('doctor')).stdout)?.[0]
  assert.equal(await said(), undefined)
  // As a process leaves it that is killed before the commit.
  const killed = `${databasePath}.before-restore-20000128T073641588000Z`
  copyFileSync(file('archive'), killed)
  writeFileSync(`${killed}.partial-99999999`, '')
  const [found, advice] = (await said())!.split('\n')
  assert.ok(
    found!.endsWith(`1 archive of the rows before them beside the database, last ${killed}`),
    found,
  )
  assert.match(advice!, /→ delete each that you no longer need\. To go back, restore one$/)
  const { kept } = JSON.parse(await done(['restore', '--yes', '--json', file('archive')]))
  assert.match(
    (await said())!,
    new RegExp(`replaced: restores have left 2 archives .*, last ${kept}\n`),
  )
  for (const each of [kept, killed]) rmSync(each)
  assert.equal(await said(), undefined)
})

test('rows of PostgreSQL that break rules are named, archived and refused', async (t) => {
  const url = await databaseFor(t, server)
  const { run, file, databasePath } = await filled(t)
  const env = { DATABASE_URL: url }
  await fill(url)
  assert.match((await run('doctor', { env })).stdout, /^ok {7}rows: all rows keep/m)
  await asAdmin(url, async (admin) => {
    await admin.query(`
      SET session_replication_role = replica; DROP INDEX api_keys_slots;
      ALTER TABLE users DROP CONSTRAINT users_email_check;
      INSERT INTO passwords VALUES ('${idOf(9)}', 'h');
      UPDATE users SET email = NULL WHERE id = '${idOf(2)}';
      UPDATE users SET email = 'Ada@example.com' WHERE id = '${idOf(1)}';
      UPDATE servers SET slug = repeat('a', 2601) WHERE id = '${idOf(22)}';
      INSERT INTO api_keys (id, user_id, name, prefix, key_hash, slot)
        SELECT gen_random_uuid(), '${idOf(1)}', 'k', '', decode(lpad(n::text, 64, '0'), 'hex'), 1
        FROM generate_series(60, 69) AS n;
      INSERT INTO api_keys (id, user_id, name, prefix, key_hash, slot)
        VALUES ('${idOf(70)}', '${idOf(9)}', 'k', '', decode(lpad('70', 64, '0'), 'hex'), 1)`)
  })
  const all = [
    `1 row of a user or an organization that does not exist: passwords ${idOf(9)} (user_id)`,
    `1 row of active keys without a user: api_keys ${idOf(70)} (user_id)`,
    `1 row of users without an email, an external_id and an identity: users ${idOf(2)} (email)`,
    `1 row of users with more than 5 active keys: users ${idOf(1)} (api_keys)`,
    // PostgreSQL compresses this one. It would refuse others of that length.
    `1 row with text that is too long for an index: servers ${idOf(22)} (slug)`,
  ]
  const ofText = `1 row with a value that the CHECK of the column refuses: users ${idOf(1)} (email)`
  const { stdout } = await run('doctor', { env })
  for (const said of all) assert.ok(stdout.includes(`problem  rows: ${said}\n`), stdout)
  const made = await run(['backup', '--json', file('archive')], { env })
  assert.equal(made.code, 0, made.stderr)
  for (const said of [...all, ofText]) assert.ok(made.stderr.includes(said), made.stderr)
  assert.equal(JSON.parse(made.stdout).broken.length, 6)
  const refused = await run(['restore', '--yes', file('archive')])
  assert.equal(refused.code, 1)
  for (const said of [...all, ofText]) assert.ok(refused.stderr.includes(said), refused.stderr)
  assert.deepEqual(rows(databasePath, 'SELECT count(*) FROM users'), [[3]])
})

test('a key without a user, and the keys of a user who has ten, can be revoked', async (t) => {
  const { run, done, databasePath } = await filled(t)
  const key = (await done(['key', 'issue', '--user', 'u1@example.com', '--name', 'leaked'])).trim()
  const ten = BROKEN_KINDS.find(({ kind }) => kind.startsWith('ten'))!
  const again = rows(databasePath, `SELECT sql FROM sqlite_schema WHERE type = 'trigger'`).flat()
  breakRows(databasePath, ten)
  change(databasePath, ...again.map(String))
  assert.equal((await run(['user', 'disable', 'u1@example.com'])).code, 0)
  assert.equal((await run(['user', 'enable', 'u1@example.com'])).code, 0)
  const revoked = await run(['key', 'revoke', '--user', 'u1@example.com', idOf(11)])
  assert.equal(revoked.code, 0, revoked.stderr)
  const move = `UPDATE api_keys SET user_id = '${idOf(1)}', disabled_at = 5 WHERE id = '${idOf(2)}'`
  assert.throws(() => change(databasePath, move), /a user has at most 5 active keys/)
  const sixth = await run(['key', 'issue', '--user', 'u1@example.com', '--name', 'more'])
  assert.notEqual(sixth.code, 0)

  change(databasePath, `UPDATE api_keys SET user_id = '${idOf(9)}' WHERE name = 'leaked'`)
  const byText = await run('key revoke --key-stdin', { stdin: key })
  assert.equal(byText.code, 0, byText.stderr)
  assert.deepEqual(
    rows(databasePath, `SELECT revoked_at IS NOT NULL FROM api_keys WHERE name = 'leaked'`),
    [[1]],
  )
})
