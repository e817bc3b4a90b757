import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import { judgeLog, createLogWatch, readersIn } from '../../../src/sqlite/file/log-size.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { once } from '../../fixtures/within.ts'
import { recordsOf } from '../../fixtures/records.ts'

const READ = `
  import { DatabaseSync } from 'node:sqlite'
  const database = new DatabaseSync(process.argv[1])
  database.exec('BEGIN; SELECT count(*) FROM users')
  process.send('reading')
  process.once('message', () => {
    database.exec('COMMIT')
    process.send('done')
  })`

test('a WAL above 64 MB is logged once, with the process that keeps it large', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const faults: unknown[] = []
  const store = await openServingSqliteStore(path, undefined, (fault) => faults.push(fault))
  const writer = new DatabaseSync(path)
  t.after(async () => {
    writer.close()
    await store.close()
  })
  writer.exec('CREATE TABLE filler (bytes BLOB); PRAGMA journal_size_limit = 0')
  const reader = spawn(process.execPath, ['--input-type=module', '-e', READ, path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => reader.kill('SIGKILL'))
  await once(reader, 'message')
  const grow = () => {
    for (let count = 0; count < 17; count += 1)
      writer.exec('INSERT INTO filler VALUES (zeroblob(4194304)); DELETE FROM filler')
  }
  grow()
  await eventually(async () => faults.length > 0)
  grow()
  // Each change makes the service look at its files.
  await recordsOf(store).insertUser(createUser('b@example.com'), operatorAt(presentInstant()))
  assert.equal(faults.length, 1)
  assert.match(
    String(faults[0]),
    new RegExp(
      `LargeLog: the write-ahead log ${path}-wal has grown to \\d+ MB: process ${reader.pid} has a read transaction open`,
    ),
  )
  reader.send('end')
  await once(reader, 'message')
  writer.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  assert.equal(statSync(`${path}-wal`).size, 0)
  // The service sees the small log, and that ends the episode.
  await recordsOf(store).insertUser(createUser('a@example.com'), operatorAt(presentInstant()))
  assert.equal(faults.length, 1)
  writer.exec(`BEGIN; ${'INSERT INTO filler VALUES (zeroblob(4194304));'.repeat(17)} COMMIT`)
  await eventually(async () => faults.length > 1)
  assert.match(String(faults[1]), /a transaction of another program is that large, or the disk/)
})

test('the log of a linked database has its real path and its reader in the warning', async (t) => {
  const folder = temporaryFolder(t)
  const [path, link] = [join(folder, 'listing.db'), join(folder, 'link.db')]
  symlinkSync(path, link)
  const writer = new DatabaseSync(path)
  t.after(() => writer.close())
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE users (id)')
  const reader = spawn(process.execPath, ['--input-type=module', '-e', READ, path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => reader.kill('SIGKILL'))
  await once(reader, 'message')
  const faults: unknown[] = []
  createLogWatch(link, (fault) => faults.push(fault))(65 * 1024 * 1024)
  assert.equal(faults.length, 1)
  const named = `the write-ahead log ${path}-wal has grown to 65 MB: process ${reader.pid} has`
  assert.ok(String(faults[0]).includes(named), String(faults[0]))
})

const SERVE = `
  import { openServingSqliteStore } from ${JSON.stringify(join(ROOT, 'src/sqlite/serving-store.ts'))}
  await openServingSqliteStore(process.argv[1])
  ${READ}`

test('another process does not name the service, which reads all the time', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const complaint = async (program: string) => {
    const reader = spawn(process.execPath, ['--input-type=module', '-e', program, path], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    t.after(() => reader.kill('SIGKILL'))
    await once(reader, 'message')
    return { pid: reader.pid, text: judgeLog(path, 65 * 1024 * 1024).found }
  }
  const service = await complaint(SERVE)
  assert.match(service.text, /a transaction of another program is that large/)
  const other = await complaint(READ)
  assert.ok(other.text.includes(`: process ${other.pid} has a read transaction open`), other.text)
})

test("the system's list of locks names each other process that reads this file once", () => {
  const locks = `1: POSIX  ADVISORY  READ 11 00:19:5678 124 124
2: POSIX  ADVISORY  READ 11 00:19:5678 127 127
3: POSIX  ADVISORY  READ 12 00:19:5678 123 123
4: POSIX  ADVISORY  WRITE 13 00:19:5678 120 120
5: POSIX  ADVISORY  READ 14 00:19:5678 128 128
6: POSIX  ADVISORY  READ 15 00:19:9999 124 124
7: POSIX  ADVISORY  READ 99 00:19:5678 124 124
8: FLOCK  ADVISORY  WRITE 16 00:19:5678 0 EOF
`
  assert.deepEqual(readersIn(locks, 5678n, [99]), [11, 12])
})
