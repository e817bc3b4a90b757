import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAdaWithKey } from '../../cli/ada.ts'
import { programIn } from '../../cli/program.ts'

const REMOVE = 'user remove ada@example.com'
const FOR_GOOD = ', and revoke the keys: no restore brings them back.'
const WOULD = 'remove ada@example.com with 1 active key, 0 servers and 0 organizations from '

test('on a terminal, removing says what would go, and only yes does it', async (t) => {
  const program = programIn(t)
  await addAdaWithKey(program)
  const answer = (stdin: string) => program.begin(REMOVE, { stdin, onTerminal: true }).ended
  // The second answer is empty: Ctrl-D.
  for (const typed of ['y\n', '\u0004']) {
    const refused = await answer(typed)
    assert.equal(refused.code, 1, refused.stdout)
    assert.ok(refused.stdout.includes(`This would ${WOULD}${program.databasePath}${FOR_GOOD}`))
    assert.match(refused.stdout, /Type yes to do it: /)
    assert.match(refused.stdout, /error: nothing was changed\r?\n/)
  }
  assert.match(await program.done('user list'), /ada@example\.com/)
  const removed = await answer('Yes\n')
  assert.equal(removed.code, 0, removed.stdout)
  assert.match(removed.stdout, /removed ada@example\.com with 1 active key/)
})
