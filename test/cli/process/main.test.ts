import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer } from '../../fixtures/postgres/server.ts'
import { addAda } from '../ada.ts'
import { assertRefused } from '../command.ts'
import { programIn } from '../program.ts'

test('an outdated Node.js gets an error of one sentence', async (t) => {
  const program = programIn(t)
  for (const version of ['20.20.2', '24.15.9']) {
    const preload = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`
    const { code, stdout, stderr } = await program.begin('serve', { preload }).ended
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.equal(
      stderr,
      `server-listing needs Node.js 24.16 or newer; this is Node.js ${version}.\n`,
    )
  }
})

test("output that can't be written is an error of one sentence", async (t) => {
  const program = programIn(t)
  await addAda(program)
  const list = (preload: string) => program.begin('user list', { preload }).ended
  // Simulates a full disk.
  const preload = `process.stdout._write = (chunk, encoding, done) => done(Object.assign(new Error('full'), { code: 'ENOSPC' }))`
  const full = await list(preload)
  assertRefused(full, 1, 'cannot write to standard output: ENOSPC')
  const gone = await list(preload.replace('ENOSPC', 'EPIPE'))
  assert.deepEqual([gone.code, gone.stderr], [0, ''])
})

test('--env-file gives the driver for PostgreSQL its own variables', async (t) => {
  const program = programIn(t)
  const server = await openServer()
  t.after(() => server.remove())
  const url = await createMigratedDatabase(server)
  const file = join(program.folder, 'service.env')
  const list = async (...variables: string[]) => {
    writeFileSync(file, [`DATABASE_URL=${url.replace(':secret@', '@')}`, ...variables].join('\n'))
    return program.begin(['user', 'list', '--env-file', file], { env: { DATABASE_URL: '' } }).ended
  }
  assertRefused(await list(), 1, 'password')
  const listed = await list('PGPASSWORD=secret')
  assert.equal(listed.code, 0, listed.stderr)
})
