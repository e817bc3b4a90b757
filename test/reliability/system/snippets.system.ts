import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSnippets } from '../../dashboard/keys/run-snippets.ts'

/*
 * The clients on the page of a new key, in the languages that Debian has. PowerShell is not one of
 * them.
 */

test('the clients for curl, JavaScript, Python and PHP wait after a 429 and print the servers', async (t) => {
  const ran = await runSnippets(t)
  assert.deepEqual(
    ran.filter((id) => id !== 'powershell'),
    ['curl', 'javascript', 'python', 'php'],
  )
})
