import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { formatInstant } from '../../../src/model/instant.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { programIn } from '../program.ts'

test('a backup is recorded once it is whole, also beside the service and to a pipe', async (t) => {
  const program = programIn(t)
  await program.done('user add --create ada@example.com')
  const file = join(program.folder, 'backup')
  const failed = await program.run(['backup', join(program.folder, 'no', 'backup')])
  assert.equal(failed.code, 1)
  assert.equal(recordedIn(program.databasePath), null)
  const service = await program.serve()
  const { made_at } = JSON.parse(await program.done(['backup', '--json', file]))
  assert.deepEqual([file, program.databasePath].map(recordedIn), [made_at, made_at])
  await program.done(['backup', '-'])
  assert.ok(recordedIn(program.databasePath)! > made_at)
  service.kill('SIGTERM')
  await service.ended

  await program.done(['restore', '--yes', file])
  assert.equal(recordedIn(program.databasePath), made_at)
})

test('a backup that its reader does not take fails, and leaves no copy', async (t) => {
  const program = programIn(t)
  await program.done('user add --create ada@example.com')
  const temporary = join(program.folder, 'temporary')
  mkdirSync(temporary)
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: `sqlite:${program.databasePath}`,
    TMPDIR: temporary,
  }
  const command = [process.execPath, '--', join(ROOT, 'bin/server-listing.js'), 'backup', '-']
  // A pipe holds less than the backup.
  const script = 'set -o pipefail; "$@" | true'
  const run = promisify(execFile)('bash', ['--norc', '-c', script, 'bash', ...command], { env })
  await assert.rejects(run, ({ code, stderr }) => {
    assert.equal(code, 1)
    assert.match(stderr, /^error: cannot write the backup to standard output: EPIPE/)
    return true
  })
  assert.deepEqual(readdirSync(temporary), [])
  assert.equal(recordedIn(program.databasePath), null)
})

test('a backup to standard output that a signal ends leaves no copy', async (t) => {
  const program = programIn(t)
  await program.done('user add --create ada@example.com')
  const database = new DatabaseSync(program.databasePath)
  // Far more than a pipe holds, so that the signal comes before the last part.
  database.exec(`UPDATE audit_log SET subject = hex(zeroblob(10000000))`)
  database.close()
  const temporary = join(program.folder, 'temporary')
  mkdirSync(temporary)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const env = { TMPDIR: temporary }
    const backup = program.begin('backup -', { env, preload: FILL_TEMPORARY })
    backup.stopReading()
    await eventually(async () => readdirSync(temporary, { recursive: true }).length > 1_000)
    backup.kill(signal)
    // The pipe is closed only when all of it is read.
    backup.continueReading()
    const ended = await backup.ended
    assert.equal(ended.signal, signal, ended.stderr)
    assert.deepEqual(readdirSync(temporary), [])
  }
})

test('a restore whose journal cannot be written says that it restored, and what it kept', async (t) => {
  const program = programIn(t)
  await program.done('user add --create ada@example.com')
  const key = await program.done(['key', 'issue', '--user', 'ada@example.com', '--name', 'bot'])
  const lost = join(program.folder, 'lost.db')
  const env = { DATABASE_URL: `sqlite:${lost}` }
  await program.done(['key', 'revoke', '--key-stdin'], { stdin: key })
  const file = join(program.folder, 'backup')
  await program.done(['backup', file])
  await program.done('user add --create bob@example.com', { env })
  // The journal is as large as a file may be, and larger than all others.
  const journal = `\n2026-01-01T00:00:00.000000Z key ${'0'.repeat(64)}\n`
  const fileSizeMax = 4 * 1024 * 1024
  writeFileSync(`${lost}-revoked`, journal.padEnd(fileSizeMax, '\n'))
  const { ended } = program.begin(['restore', '--yes', '--json', file], { env, fileSizeMax })
  const { code, stdout, stderr } = await ended
  assert.equal(code, 1, stderr)
  const { kept } = JSON.parse(stdout)
  assert.match(
    stderr,
    /^restored .*backup: 1 user, .* is the archive (.*)\ndatabase: .*\nerror: cannot write the journal of revocations .*lost\.db-revoked: EFBIG.* mend the journal, and run the command or start the service again\n$/,
  )
  assert.ok(stderr.includes(`What was there before is the archive ${kept}\n`))
  assert.match(await program.done('user list', { env }), /ada@example\.com/)
  const undone = await program.run(['restore', '--yes', kept], { env })
  assert.match(undone.stderr, /restored .*: 1 user/)
  assert.match(await program.done('user list', { env }), /bob@example\.com/)
})

/**
 * Makes files beside the copy while the folder is removed. SQLite's thread may make its own there,
 * but only in a very short time.
 */
const FILL_TEMPORARY = `
import { readdirSync, writeFileSync } from 'node:fs'
import { isMainThread, Worker } from 'node:worker_threads'
const temporary = process.env.TMPDIR
const fill = () => {
  let folder
  while ((folder = readdirSync(temporary)[0]) === undefined);
  for (let n = 0; n < 20_000; n++) writeFileSync(temporary + '/' + folder + '/' + n, '')
}
if (isMainThread) new Worker(new URL(import.meta.url), { execArgv: [] }).on('error', () => {}).unref()
else fill()`

/** The instant of the last backup that a database knows of. */
function recordedIn(path: string): string | null {
  const database = new DatabaseSync(path, { readOnly: true })
  const row = database.prepare('SELECT made_at FROM last_backup').get()
  database.close()
  return row === undefined ? null : formatInstant(Number(row.made_at))
}
