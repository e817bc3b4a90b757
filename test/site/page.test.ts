import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { programIn } from '../cli/program.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { ask } from '../fixtures/requests.ts'
import { addOwner, startTestService } from '../fixtures/service.ts'
import { shellEnvironment } from '../operations/guide/shim.ts'
import { openTerminal } from '../operations/guide/terminal.ts'
import { live } from './acts.ts'
import { runElsewhere } from './other-process.ts'
import { buildSite, isForSqlite, pageBlocks, serveSite } from './toy-site.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('the page leads from an empty PostgreSQL to a served site, and a state file reaches another database', async (t) => {
  const { folder } = programIn(t)
  const scratch = temporaryFolder(t)
  const terminal = openTerminal({ folder, scratch, env: shellEnvironment(scratch), user: {} })
  t.after(terminal.close)
  const states: unknown[] = []
  const site = await buildSite(t, server, {
    async shell(commands, url, at) {
      const ran = await terminal.run(commands.replace(/postgres:\/\/\S+/, url))
      assert.ok(ran.isDone, `${at} failed:\n${commands}\nIt printed:\n${ran.output}`)
      if (commands.includes('apply -')) states.push(stateOf(join(folder, 'listing.db')))
    },
  })
  await live(site, await serveSite(t, site), 'ada@example.com')
  const eve = { external_id: '4711', email: 'eve@example.com', servers: 'Survival' }
  assert.deepEqual(states, [
    [{ ...eve, is_banned: 0 }],
    [{ ...eve, is_banned: 1 }],
    [
      { ...eve, is_banned: 0 },
      { external_id: '4712', email: 'bob@example.com', servers: null, is_banned: 0 },
    ],
  ])
})

function stateOf(path: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare(`
    SELECT external_id, email, banned_at IS NOT NULL AS is_banned,
      (SELECT group_concat(name) FROM servers WHERE created_by = users.id) AS servers
    FROM users ORDER BY external_id`)
  const state = rows.all().map((row) => ({ ...row }))
  database.close()
  return state
}

test('another program writes to the SQLite file while the service answers', async (t) => {
  const { port, store, clock, databasePath } = await startTestService(t)
  const { key } = await addOwner(store, 'bob@example.com')
  const [change, ban, revocation] = pageBlocks().filter(isForSqlite)
  const namesFor = async (given: string) => {
    clock.elapse(1_000)
    const { status, body } = await ask(port, { key: given })
    const { servers } = JSON.parse(body) as { servers?: { name: string }[] }
    return servers?.map(({ name }) => name) ?? status
  }
  const write = (sql: string) => runElsewhere(databasePath, sql)
  assert.deepEqual(await namesFor(key), [])
  await write(change!.text)
  await write(`UPDATE api_keys SET user_id = (SELECT id FROM users WHERE external_id = '4713')`)
  assert.deepEqual(await namesFor(key), ['Survival'])
  await write(change!.text.replaceAll('Survival', 'Creative'))
  assert.deepEqual(await namesFor(key), ['Creative'])
  await write(ban!.text)
  assert.equal(await namesFor(key), 401)
  await write('UPDATE users SET disabled_at = NULL')
  assert.deepEqual(await namesFor(key), ['Creative'])
  await write(revocation!.text)
  assert.equal(await namesFor(key), 401)
  const eve = await addOwner(store, 'eve@example.com')
  assert.deepEqual(await namesFor(eve.key), [])
  for (const foreignKeys of ['ON', 'OFF'])
    await assert.rejects(
      write(`PRAGMA foreign_keys = ${foreignKeys}; REPLACE INTO users (id, email, created_at)
        VALUES ('00000000-0000-8000-8000-000000000001', 'eve@example.com', 1)`),
      /this would delete a user/,
    )
  assert.deepEqual(await namesFor(eve.key), [])
})
