import assert from 'node:assert/strict'
import { chmodSync, chownSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { diagnose } from '../../cli/doctor/findings.ts'
import { programIn } from '../../cli/program.ts'

/*
 * Only root can give files to another user.
 */

const SERVICE = 4711
const OTHER = 4712

test('files of another user, and a folder that the owner cannot write, are problems', async (t) => {
  const program = programIn(t)
  const { databasePath } = program
  const rights = async () => {
    const { rights: found } = await diagnose(program)
    return found!
  }
  const served = await program.serve()
  await program.done('user add ada@example.com')
  const files = ['', '-wal', '-shm', '-serving'].map((end) => `${databasePath}${end}`)
  const folder = dirname(databasePath)
  for (const path of [folder, ...files]) chownSync(path, SERVICE, SERVICE)
  assert.equal((await rights()).state, 'ok')

  for (const path of files.slice(1)) {
    chownSync(path, OTHER, OTHER)
    const found = await rights()
    assert.equal(found.state, 'problem')
    assert.ok(found.found.startsWith(`${path} and the database file belong to different users`))
    chownSync(path, SERVICE, SERVICE)
  }

  chownSync(folder, 0, 0)
  assert.match((await rights()).found, /\(id 4711\) may not write to its folder/)
  // A group may have the user of the service as a member.
  chmodSync(folder, 0o770)
  assert.equal((await rights()).state, 'ok')
  served.kill('SIGTERM')
  await served.ended
})
