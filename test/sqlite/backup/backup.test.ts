import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { NotBackedUp } from '../../../src/transfer/backup/backup.ts'
import { NotConfigured } from '../../../src/listing/faults.ts'
import { backUpSqlite } from '../../../src/sqlite/backup/backup.ts'
import { claim } from '../../contract/keys/claim.ts'
import { addOwner } from '../../fixtures/service.ts'
import { files, rowsOf } from './files.ts'

const SERVER = { name: 'Survival', address: 'play.example.com' }

test('a backup of a served file has all its rows, and a manifest that describes it', async (t) => {
  const { path, target, folder, serve, backUp } = files(t)
  await serve(async (store) => {
    const { key } = await addOwner(store, 'ada@example.com', [SERVER])
    assert.equal((await claim(store, key)).outcome, 'granted')
    const manifest = await backUp()
    assert.deepEqual(rowsOf(target), rowsOf(path))
    const bytes = readFileSync(target)
    assert.deepEqual(manifest, JSON.parse(readFileSync(`${target}.json`, 'utf8')))
    const { program, users, servers, api_keys, active_api_keys, last_use, sha256 } = manifest
    assert.deepEqual([program, users, servers, api_keys, active_api_keys], ['1.2.3', 1, 1, 1, 1])
    assert.ok(last_use !== null && manifest.made_at >= last_use)
    assert.deepEqual(
      [manifest.bytes, sha256],
      [bytes.length, createHash('sha256').update(bytes).digest('hex')],
    )
    assert.equal(statSync(target).mode & 0o777, 0o600)
    // The service goes on.
    assert.equal((await claim(store, key)).outcome, 'limited')
  })
  const left = readdirSync(folder).filter((name) => name.startsWith('backup'))
  assert.deepEqual(left.toSorted(), ['backup', 'backup.json'])
})

test('a backup replaces an earlier one, and removes what a killed one has left', async (t) => {
  const { target, folder, serve, backUp } = files(t)
  await serve(async (store) => {
    await backUp()
    // No process has a number this large.
    for (const end of ['', '-journal', '.json'])
      writeFileSync(`${target}${end === '.json' ? end : ''}.partial-99999999${end}`, 'x')
    writeFileSync(`${target}.partial-${process.ppid}`, 'of a process that runs')
    await addOwner(store, 'ada@example.com')
    assert.equal((await backUp()).users, 1)
  })
  const left = readdirSync(folder).filter((name) => name.includes('.partial-'))
  assert.deepEqual(left, [`backup.partial-${process.ppid}`])
})

test('a backup that cannot be made leaves an earlier one as it is, and says why', async (t) => {
  const { path, target, folder, serve, backUp } = files(t)
  await serve(async (store) => {
    await addOwner(store, 'ada@example.com')
    await backUp()
  })
  const refused = async (to: string, sentence: RegExp, from = path) => {
    await assert.rejects(backUpSqlite(from, to, '1'), (error: Error) => {
      assert.ok(error instanceof NotBackedUp || error instanceof NotConfigured, error.stack)
      assert.match(error.message, sentence)
      return true
    })
  }
  const before = readFileSync(target)
  await refused(path, /it is the database itself/)
  await refused(`${folder}/none/backup`, /there is no folder .*none/)
  await refused(`${folder}/new`, /there is no database file/, `${folder}/missing`)
  assert.equal(existsSync(`${folder}/new`), false)
  // A damaged page in the middle of the file.
  const damaged = readFileSync(path)
  damaged.fill(0xff, 4096 * 3, 4096 * 5)
  writeFileSync(path, damaged)
  await refused(target, /the database is damaged, so that no backup was made|malformed/)
  assert.deepEqual(readFileSync(target), before)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('partial')),
    [],
  )
  chmodSync(path, 0o600)
})
