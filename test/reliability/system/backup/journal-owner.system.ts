import assert from 'node:assert/strict'
import {
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { addAdaWithKeys } from '../../../cli/ada.ts'
import { programIn } from '../../../cli/program.ts'

const UNPRIVILEGED = 65_534

test("root's revocation leaves a journal that belongs to the owner of the database", async (t) => {
  const program = programIn(t)
  const keys = await addAdaWithKeys(program, 2)
  const folder = dirname(program.databasePath)
  for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))])
    chownSync(path, UNPRIVILEGED, UNPRIVILEGED)
  const journal = `${program.databasePath}-revoked`

  for (const { key } of keys) {
    await program.done('key revoke --key-stdin', { stdin: key })
    const { uid, gid, mode } = statSync(journal)
    assert.deepEqual([uid, gid, mode & 0o777], [UNPRIVILEGED, UNPRIVILEGED, 0o600])
    // A journal that an operator has copied as root gets its owner, too.
    chownSync(journal, 0, 0)
  }
})

test("root's revocation follows no link, so it gives no other file to the owner of the database", async (t) => {
  const program = programIn(t)
  const keys = await addAdaWithKeys(program, 1)
  const { key } = keys[0]!
  chownSync(program.databasePath, UNPRIVILEGED, UNPRIVILEGED)
  const journal = `${program.databasePath}-revoked`
  const target = join(program.folder, 'target')
  writeFileSync(target, 'of root')
  for (const path of [target, join(program.folder, 'missing')]) {
    symlinkSync(path, journal)
    const { code, stderr } = await program.run('key revoke --key-stdin', { stdin: key })
    assert.equal(code, 1, stderr)
    assert.match(stderr, /^error: cannot read the journal .*-revoked: it is a link/)
    rmSync(journal)
  }
  assert.deepEqual([statSync(target).uid, readFileSync(target, 'utf8')], [0, 'of root'])
  assert.ok(!existsSync(join(program.folder, 'missing')))
  await program.done('key revoke --key-stdin', { stdin: key })
})
