import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer } from '../../fixtures/postgres/server.ts'
import { addAda } from '../ada.ts'
import { assertRefused } from '../command.ts'
import type { ProcessOptions } from '../process.ts'
import { logLines, programIn } from '../program.ts'

test("output that can't be written is an error of one sentence", async (t) => {
  const program = programIn(t)
  await addAda(program)
  const list = (options: ProcessOptions) => program.begin('user list', options).ended
  const full = await list({ output: '/dev/full' })
  assertRefused(full, 1, 'cannot write to standard output: ENOSPC')
  const mute = await list({ output: '/dev/full 2> /dev/full' })
  assert.deepEqual([mute.code, mute.stderr], [1, ''])
  const preload = `process.stdout._write = (chunk, encoding, done) => done(Object.assign(new Error('gone'), { code: 'EPIPE' }))`
  const gone = await list({ preload })
  assert.deepEqual([gone.code, gone.stderr], [0, ''])
})

test("the variables of PostgreSQL's own programs change nothing, and are named", async (t) => {
  const program = programIn(t)
  const server = await openServer()
  t.after(() => server.remove())
  const DATABASE_URL = await createMigratedDatabase(server)
  const file = join(program.folder, 'service.env')
  const passwords = join(program.folder, 'pgpass')
  writeFileSync(passwords, '*:*:*:*:secret\n', { mode: 0o600 })
  writeFileSync(
    file,
    `PGHOST=192.0.2.1
PGPORT=1
PGUSER=eve
PGDATABASE=other
PGOPTIONS="-c search_path=nowhere"
PGSSLMODE=verify-full
PGSSLNEGOTIATION=sometimes
PGREPLICATION=database
PGPASSWORD=secret
PGPASSFILE=${passwords}
`,
  )
  const run = (args: string, url = DATABASE_URL) =>
    program.begin([...args.split(' '), '--env-file', file], { env: { DATABASE_URL: url } }).ended
  const listed = await run('user list --json')
  assert.deepEqual([listed.code, listed.stdout, listed.stderr], [0, '[]\n', ''])
  // A client that signs in by password has none but that of its URL.
  const refused = await run('user list', DATABASE_URL.replace(':secret@', '@'))
  assertRefused(refused, 1, 'the server asks for a password, and DATABASE_URL has none')
  const ignored =
    'the service ignores PGDATABASE, PGHOST, PGOPTIONS, PGPASSFILE, PGPASSWORD, PGPORT, ' +
    'PGSSLMODE, PGSSLNEGOTIATION, PGUSER'
  const advice = 'write into DATABASE_URL how to connect'
  assert.equal((await run('config')).stderr, `warning: ${ignored}: ${advice}\n`)
  const found = JSON.parse((await run('doctor --json')).stdout) as Record<string, string>[]
  const {
    state,
    found: sentence,
    advice: act,
  } = found.find(({ check }) => check === 'pg_variables') ?? {}
  assert.deepEqual([state, sentence, act], ['warning', ignored, advice])
  // With SQLite, they concern another program.
  assert.equal((await run('config', 'sqlite:x.db')).stderr, '')
})

test('serve logs which variables it ignores', async (t) => {
  const program = programIn(t)
  const env = { DATABASE_URL: 'postgres://u@127.0.0.1:1/x', PGPASSWORD: 'secret', PGHOST: '' }
  const served = await program.serve({ env })
  const messages = logLines(served.stdout()).map(({ msg }) => msg)
  const sentence = 'the service ignores PGPASSWORD: write into DATABASE_URL how to connect'
  assert.ok(messages.includes(sentence), messages.join('\n'))
})
