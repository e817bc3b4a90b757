import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { addAdaWithKey } from '../../cli/ada.ts'
import { commandsIn } from '../../cli/command.ts'

test("a command fails and changes nothing if its audit entry can't be written", async (t) => {
  const program = commandsIn(t)
  const { id } = await addAdaWithKey(program)
  const database = new DatabaseSync(program.databasePath)
  database.exec(
    `CREATE TRIGGER away BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'it is away'); END`,
  )
  database.close()
  const ended = await program.run(`key revoke --user ada@example.com ${id}`)
  assert.deepEqual([ended.code, ended.stdout], [1, ''])
  assert.match(ended.stderr, /^error: [^\n]*it is away \(set LOG_LEVEL=debug to see where\)\n$/)
  const [key] = JSON.parse(await program.done('key list --json'))
  assert.equal(key.revoked_at, null)
})
