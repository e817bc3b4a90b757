import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { ask } from '../fixtures/requests.ts'
import { addOwner, startTestService } from '../fixtures/service.ts'

/*
 * No site may write rows into our tables. If a program does so, the triggers keep the contract.
 */

const run = promisify(execFile)

const PROGRAM = `
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(process.argv[1], { enableForeignKeyConstraints: false })
  database.exec(process.argv[2])`

test('another program writes to the SQLite file while the service answers', async (t) => {
  const { port, store, clock, databasePath } = await startTestService(t)
  const { key } = await addOwner(store, 'bob@example.com')
  const namesFor = async (given: string) => {
    clock.elapse(1_000)
    const { status, body } = await ask(port, { key: given })
    const { servers } = JSON.parse(body) as { servers?: { name: string }[] }
    return servers?.map(({ name }) => name) ?? status
  }
  /** In another process, whose connection has SQLite's own defaults. */
  const write = (sql: string) =>
    run(process.execPath, ['--no-warnings', '-e', PROGRAM, databasePath, sql])
  assert.deepEqual(await namesFor(key), [])
  await write(`INSERT INTO servers (id, created_by, name, host_label, updated_at)
    SELECT 'a1f0c6d2-58f4-4d5e-9b77-0c7d3a2e9b10', user_id, 'Survival', 'play.example.com', 1
    FROM api_keys`)
  assert.deepEqual(await namesFor(key), ['Survival'])
  await write(`UPDATE servers SET name = 'Creative'`)
  assert.deepEqual(await namesFor(key), ['Creative'])
  await write('UPDATE users SET disabled_at = 1')
  assert.equal(await namesFor(key), 401)
  await write('UPDATE users SET disabled_at = NULL')
  assert.deepEqual(await namesFor(key), ['Creative'])
  await write('UPDATE api_keys SET revoked_at = 1')
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
