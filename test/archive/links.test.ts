import assert from 'node:assert/strict'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openArchive } from '../../src/archive/open.ts'
import { backUpSqlite } from '../../src/archive/sqlite-backup.ts'
import { change, filledFile, files, hashOf, leaveOld, restoreFile, rows, rowsOf } from './files.ts'

/*
 * A database or an archive may have other names. A link to it is in a folder of its own here.
 */

async function linked(t: TestContext) {
  const { folder, ...all } = files(t)
  mkdirSync(join(folder, 'links'))
  const linkTo = (name: string) => {
    const link = join(folder, 'links', name)
    symlinkSync(join(folder, name), link)
    return link
  }
  await filledFile(all.path, 1)
  return { ...all, folder, link: linkTo('listing.db'), linkTo }
}

test('a link to the database is no target of its backup, and no archive to restore', async (t) => {
  const { path, link } = await linked(t)
  const before = rowsOf(path)
  for (const [one, other] of [
    [path, link],
    [link, path],
  ] as const) {
    await assert.rejects(backUpSqlite(one, other), /it is the database itself; name another file/)
    await assert.rejects(restoreFile(one, other), /it is the database itself/)
  }
  assert.deepEqual(rowsOf(path), before)
})

test('a backup to a hard link replaces that name, and the database keeps its file', async (t) => {
  const { path, target } = await linked(t)
  linkSync(path, target)
  const { ino } = statSync(path)
  await backUpSqlite(path, target)
  assert.deepEqual([statSync(path).ino, rows(path, 'SELECT * FROM last_backup')], [ino, []])
  assert.notEqual(statSync(target).ino, ino)
  assert.equal(rows(target, 'SELECT * FROM last_backup').length, 1)
})

test('a backup by links replaces the file behind, and removes what killed ones left there', async (t) => {
  const { path, link, target, linkTo, backUp } = await linked(t)
  await backUp()
  change(path, 'DELETE FROM users')
  const left = `${path}.before-restore-20261128T073641588Z.partial-99999999`
  leaveOld(left)
  await backUpSqlite(link, join(dirname(link), 'elsewhere'))
  assert.ok(!existsSync(left))
  const [partial, toArchive] = [`${target}.partial-99999999`, linkTo('backup')]
  leaveOld(partial)
  await backUpSqlite(link, toArchive)
  assert.ok(lstatSync(toArchive).isSymbolicLink() && !existsSync(partial))
  assert.deepEqual(rows(target, 'SELECT * FROM users'), [])
})

test('a service is found by a link to its file', async (t) => {
  const { path, link, target, serve, backUp } = await linked(t)
  await backUp()
  await serve(async () => {
    await assert.rejects(openArchive(link), /is being served by process \d+/)
    await assert.rejects(restoreFile(link, target), /AlreadyServed/)
  })
  assert.ok(existsSync(`${path}-serving`))
})

test('a restore by a link keeps what it replaces, and the journal, beside the file', async (t) => {
  const { folder, path, link, target, backUp } = await linked(t)
  await backUp()
  change(
    target,
    `INSERT INTO revoked_hashes (key_hash, revoked_at) VALUES (unhex('${hashOf(7)}'), 1)`,
  )
  const { kept } = await restoreFile(link, target)
  assert.equal(dirname(kept!), folder)
  assert.ok(existsSync(`${path}-revoked`))
  assert.deepEqual(readdirSync(dirname(link)), ['listing.db'])
})

test('a restore needs room for the archive in the folder of the file', async (t) => {
  const { folder, path, link, target, backUp } = await linked(t)
  await backUp()
  // Eight terabytes, of which SQLite reads as many pages as the header says.
  truncateSync(target, 2 ** 43)
  const before = [rowsOf(path), readdirSync(folder)]
  await assert.rejects(restoreFile(link, target), {
    name: 'NotRestored',
    message: new RegExp(`it needs [89]\\d{6} MB in ${folder}, for the log of the change`),
  })
  assert.deepEqual([rowsOf(path), readdirSync(folder)], before)
})
