import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { presentInstant } from '../../src/listing/instant.ts'
import { issueApiKey } from '../../src/listing/manage-api-keys.ts'
import { createUser } from '../../src/listing/user.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { ask } from '../fixtures/requests.ts'
import { programIn } from './program.ts'

const ROWS = 300_000
const USERS = 14
const KEYS_OF_USER = 5
/** With this many keys in turn each is asked with again after more than a second. */
const POLL_MS = 20

async function issueKeys(databasePath: string): Promise<string[]> {
  const store = await openSqliteStore(databasePath, { create: true })
  const keys: string[] = []
  for (let number = 0; number < USERS; number += 1) {
    const user = createUser(`user${number}@example.com`)
    await store.insertUser(user)
    for (let name = 1; name <= KEYS_OF_USER; name += 1) {
      const issued = await issueApiKey(store, user.id, `${name}`, presentInstant())
      if ('key' in issued) keys.push(issued.key)
    }
  }
  await store.close()
  return keys
}

test('300,000 rows are imported beside a serving process, and no request gets a 502', async (t) => {
  const program = programIn(t)
  const keys = await issueKeys(program.databasePath)
  const file = join(program.folder, 'servers.json')
  const entries = Array.from(
    { length: ROWS },
    (_, n) => `{"name":"${n}","address":"s${n}.example.com"}`,
  )
  writeFileSync(file, `[${entries.join()}]`)
  const served = await program.serve()

  const imported = new AbortController()
  const importing = program
    .run(`server import --user user0@example.com ${file}`)
    .finally(() => imported.abort())
  const polls: Promise<{ status: number; ms: number; servers: number }>[] = []
  const poll = async (key: string | undefined) => {
    const since = performance.now()
    const { status, body } = await ask(served.port, { key: key ?? '' })
    const servers = status === 200 ? JSON.parse(body).servers.length : 0
    return { status, ms: performance.now() - since, servers }
  }
  while (!imported.signal.aborted) {
    polls.push(poll(keys[polls.length % keys.length]))
    await delay(POLL_MS)
  }

  const { code, stdout, stderr } = await importing
  assert.deepEqual(
    [code, stdout, stderr],
    [0, '', 'imported 300,000 servers for user0@example.com: 300,000 new, 0 updated\n'],
  )
  const answers = await Promise.all(polls)
  const counts = Object.groupBy(answers, ({ status }) => status)
  assert.deepEqual(
    Object.keys(counts).filter((status) => status !== '200' && status !== '429'),
    [],
    served.stdout(),
  )
  const listed = counts[200] ?? []
  assert.ok(listed.length > answers.length / 2, `${listed.length} of ${answers.length} were 200`)
  // The importing user's own listing was seen while the import was under way.
  assert.ok(listed.some(({ servers }) => servers === 100))
  const slowest = Math.max(...answers.map(({ ms }) => ms))
  t.diagnostic(
    `${listed.length} of ${answers.length} polls were 200, the slowest took ${slowest.toFixed()} ms`,
  )

  // More rows than a call can have arguments.
  const table = await program.done('server list --user user0@example.com')
  assert.equal(table.split('\n').length, ROWS + 1)
})
