import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openDatabase } from '../../src/postgres/database.ts'
import { MIGRATIONS, migrate } from '../../src/postgres/migrate.ts'
import { ENDLESS } from '../../src/postgres/patience.ts'
import { runCommand } from '../cli/command.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { FILES, folderOf } from '../reliability/releases/kept.ts'
import { live } from './acts.ts'
import { follow, openToy, pageBlocks, serveSite } from './toy-site.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a site on the page of 0.1.0 goes on by this page, and servers keep their ids', async (t) => {
  const tarball = join(folderOf('0.1.0'), FILES.package)
  const oldPage = execFileSync('tar', ['-xzOf', tarball, 'package/docs/site.md'], {
    encoding: 'utf8',
  })
  const site = await openToy(t, server)
  const database = openDatabase(site.url, ENDLESS)
  t.after(database.close)
  await follow(site, pageBlocks(oldPage), {
    async shell(commands) {
      if (commands.includes('postgres://')) await migrate(database, MIGRATIONS.slice(0, 1))
    },
    async fill({ queryAs }) {
      await queryAs(
        'site',
        `INSERT INTO accounts (mail, banned_at)
         VALUES ('ada@a.example', NULL), ('bob@a.example', NULL), ('cid@a.example', now());
         INSERT INTO games (account_id, title, slug, host) VALUES (1, 'One', 'one', 'x'), (2, 'Two', 'two', 'x')`,
      )
    },
  })
  const servers = 'SELECT id, name FROM servers ORDER BY name'
  const { rows: old } = await site.queryAs('listing', servers)
  assert.equal(old.length, 2)

  await site.queryAs('site', 'DROP SCHEMA mirror CASCADE')
  await site.query(
    `UPDATE games SET title = 'Three' WHERE id = 2; DELETE FROM accounts WHERE id = 1`,
  )
  const env = { DATABASE_URL: site.url }
  const refused = await runCommand('migrate', { env })
  assert.equal(refused.code, 1, refused.stderr)
  const revoking = refused.stderr.match(/REVOKE ALL ON [^;]+ FROM [^;\s]+/g) ?? []
  assert.ok(revoking.length > 0, refused.stderr)
  for (const statement of revoking) await site.queryAs('listing', statement)
  assert.equal((await runCommand('migrate', { env })).code, 0)

  const blocks = pageBlocks().filter(({ role }) => role === 'listing' || role === 'site')
  // The site has its tables already.
  const left = blocks.map((block) => {
    return { ...block, text: block.text.replace(/CREATE TABLE[\s\S]*?\n\n/, '') }
  })
  await follow(site, left)
  await site.run('every night')
  const { rows } = await site.queryAs('listing', servers)
  assert.deepEqual(rows, [{ ...old[1], name: 'Three' }])

  const withoutAccess = async () => {
    const facts = 'disabled_at IS NOT NULL AS disabled, banned_at IS NOT NULL AS banned'
    return (await site.queryAs('listing', `SELECT ${facts} FROM users WHERE external_id = '3'`))
      .rows
  }
  assert.deepEqual(await withoutAccess(), [{ disabled: true, banned: true }])
  const enabled = await runCommand('user enable --external-id 3', { env })
  assert.match(enabled.stderr, /the site's ban stands/)
  await site.queryAs('site', 'UPDATE accounts SET banned_at = NULL WHERE id = 3')
  assert.deepEqual(await withoutAccess(), [{ disabled: false, banned: false }])
  await live(site, await serveSite(t, site), 'eve@a.example')
  await assert.rejects(site.queryAs('site', 'SELECT FROM listing.users'), { code: '42501' })
})
