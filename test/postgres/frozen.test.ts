import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { documentOf } from '../fixtures/document.ts'
import { openDatabase } from '../../src/postgres/database.ts'
import { MANAGING } from '../../src/postgres/patience.ts'
import { programIn } from '../cli/program.ts'
import { eventually } from '../fixtures/eventually.ts'
import { freePort } from '../fixtures/free-port.ts'
import { ask } from '../fixtures/requests.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { diagnose } from '../cli/doctor/findings.ts'

/*
 * An operator freezes a database before it moves, and a provider does when the disk is full:
 * `default_transaction_read_only`. What is written afterwards would be lost.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const SENTENCE = /the database is read-only: default_transaction_read_only is on .*RESET/

for (const [place, setting] of [
  ['the database', (name: string) => `DATABASE ${name}`],
  ['the role', (name: string, role: string) => `ROLE ${role} IN DATABASE ${name}`],
] as const)
  test(`a command refuses to write while ${place} is frozen, and reads`, async (t) => {
    const { program, env, freeze, thaw } = await prepare(t, setting)
    await program.done('user add ada@example.com', { env })
    const key = await program.done('key issue --user ada@example.com --name bot', { env })
    await freeze()
    const acts = [
      ['key revoke --key-stdin', key],
      ['key issue --user ada@example.com --name other'],
      ['user add bob@example.com'],
      ['user remove ada@example.com --yes'],
      ['apply --yes -', JSON.stringify(documentOf({ users: [{ email: 'bob@example.com' }] }))],
    ]
    for (const [command = '', stdin = ''] of acts) {
      const { code, stdout, stderr } = await program.run(command, { env, stdin })
      assert.deepEqual([command, code, stdout], [command, 1, ''])
      assert.match(stderr, SENTENCE, command)
    }
    const archive = join(program.folder, 'archive.db')
    const kept = await program.run(`backup ${archive}`, { env })
    assert.equal(kept.code, 0)
    assert.match(kept.stderr, /backed up and checked .*1 active key/)
    assert.match(kept.stderr, /warning: the database does not record this backup/)
    const restored = await program.run(`restore --yes ${archive}`, { env })
    assert.equal(restored.code, 1)
    assert.match(restored.stderr, SENTENCE)
    await thaw()
    const stdout = await program.done('key list --user ada@example.com --json', { env })
    assert.deepEqual(
      JSON.parse(stdout).map(({ name, revoked_at }: Record<string, unknown>) => [name, revoked_at]),
      [['bot', null]],
    )
    await program.done('key revoke --key-stdin', { env, stdin: key })
  })

test('a database is frozen for new sessions: the API answers 502, readiness says why', async (t) => {
  const { program, freeze, thaw, env } = await prepare(t, (name) => `DATABASE ${name}`)
  await program.done('user add ada@example.com', { env })
  const key = (await program.done('key issue --user ada@example.com --name bot', { env })).trim()
  const OPS_PORT = String(await freePort())
  await freeze()
  const { port } = await program.serve({ env: { ...env, OPS_PORT } })
  const { status, body } = await ask(port, { key })
  assert.deepEqual([status, JSON.parse(body)], [502, { error: 'Authentication service error.' }])
  assert.equal((await ask(port, { path: '/health' })).status, 200)
  // The monitor's first look may still be under way.
  await eventually(async () => {
    const { status, body } = await ask(Number(OPS_PORT), { path: '/readyz' })
    return status === 503 && SENTENCE.test(JSON.parse(body).checks.claims)
  })
  const { database } = await diagnose(program, env)
  assert.equal(database!.state, 'problem')
  assert.match(database!.found, /default_transaction_read_only is on/)
  await thaw()
  await eventually(async () => (await ask(port, { key })).status === 200)
})

test('the dashboard writes again as soon as its database is thawed', async (t) => {
  const { env, freeze, thaw } = await prepare(t, (name) => `DATABASE ${name}`)
  await freeze()
  const database = openDatabase(env.DATABASE_URL, MANAGING)
  t.after(database.close)
  const write = () =>
    database.transact((client) => client.query(`INSERT INTO secrets VALUES ('new', 'x')`))
  await assert.rejects(write, SENTENCE)
  await thaw()
  await write()
})

async function prepare(t: TestContext, setting: (name: string, role: string) => string) {
  const url = await createMigratedDatabase(server)
  const place = setting(new URL(url).pathname.slice(1), new URL(url).username)
  const alter = (change: string) =>
    asAdmin(server.url(), (admin) => admin.query(`ALTER ${place} ${change}`))
  return {
    env: { DATABASE_URL: url },
    program: programIn(t),
    freeze: () => alter('SET default_transaction_read_only = on'),
    thaw: () => alter('RESET default_transaction_read_only'),
  }
}
