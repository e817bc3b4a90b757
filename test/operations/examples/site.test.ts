import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { ROOT } from '../../fixtures/tree.ts'
import { answerOfPut, serveManaged } from '../../site/managed.ts'

/*
 * docs/site.php, with which a site in PHP hands over its users.
 */

const run = promisify(execFile)
const EXAMPLE = join(ROOT, 'docs/site.php')

test('a site in PHP puts a user, makes a key and a sign-in link, and removes the user', async (t) => {
  const { url, tokenFile, names } = await serveManaged(t)
  const env = { PATH: '/usr/bin', MANAGEMENT_URL: url, MANAGEMENT_TOKEN_FILE: tokenFile }
  const php = async (...args: string[]) => {
    const { stdout, stderr } = await run('/usr/bin/php', args, { env })
    assert.equal(stderr, '')
    return JSON.parse(stdout.split('\n').at(-1) || stdout)
  }
  const call = (code: string) => php('-r', `require '${EXAMPLE}'; echo json_encode(${code});`)
  assert.deepEqual(await php(EXAMPLE), answerOfPut(1))
  assert.deepEqual(await php(EXAMPLE), answerOfPut(0))

  const { key } = await call(`issueKey('4711', 'bot')`)
  assert.deepEqual(await names(key), ['Survival'])
  assert.match(await call(`signInLink('4711')`), /^http:\/\/127\.0\.0\.1:\d+\/link\//)
  const removed = await call(`removeUser('4711')`)
  assert.deepEqual(removed, { remove_users: { removed: 1, refused: [] } })
  assert.equal(await names(key), 401)

  writeFileSync(tokenFile, 'another')
  await assert.rejects(php(EXAMPLE), /RuntimeException: 401 .*error/)
})
