import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { runHere, setDatabase } from '../here.ts'

test('the last line of every command that writes names the database', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  setDatabase(t, `sqlite:${path}`)
  const key = await issue()
  const id = JSON.parse((await runHere('key list --user ada@example.com --json')).stdout)[0].id
  const entries = '[{"name":"a","address":"a.example"}]'
  for (const [args, stdin = ''] of [
    ['migrate'],
    ['user add bob@example.com'],
    ['user password ada@example.com', 'correct horse battery'],
    ['user link ada@example.com'],
    ['key issue --user ada@example.com --name second'],
    [`key revoke --user ada@example.com ${id}`],
    ['key revoke --key-stdin', key],
    ['server import --user ada@example.com -', entries],
    ['user remove ada@example.com --yes'],
  ] as const) {
    const { code, stderr } = await runHere(args, stdin)
    assert.equal(code, 0, `${args}: ${stderr}`)
    assert.ok(stderr.endsWith(`\ndatabase: ${path}\n`), `${args}: ${stderr}`)
    assert.equal(stderr.split('database: ').length, 2, stderr)
  }
})

test('a command that reads or changes nothing names no changed database', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  setDatabase(t, `sqlite:${path}`)
  await issue()
  assert.equal((await runHere('user list')).stderr, '')
  for (const args of ['user remove eve@example.com --yes', 'key list --user eve@example.com']) {
    const { code, stderr } = await runHere(args)
    assert.equal(code, 1)
    assert.doesNotMatch(stderr, /database: /)
    // The wrong database is the usual reason why a user is missing.
    assert.match(stderr, /there is no (such )?user .*in .*listing\.db\. /)
  }
})

/** Creates the database with ada@example.com, and returns a key of hers. */
async function issue(): Promise<string> {
  assert.equal((await runHere('user add ada@example.com --create')).code, 0)
  return (await runHere('key issue --user ada@example.com --name bot')).stdout
}
