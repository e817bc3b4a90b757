import assert from 'node:assert/strict'
import { chownSync, readdirSync, statSync } from 'node:fs'
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
    // A journal from an earlier version, which belongs to root, gets its owner, too.
    chownSync(journal, 0, 0)
  }
})
