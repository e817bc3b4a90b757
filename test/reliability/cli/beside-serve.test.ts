import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { documentOf } from '../../fixtures/document.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import { createUser } from '../../../src/accounts/user.ts'
import type { Store } from '../../../src/database/store.ts'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { ask } from '../../fixtures/requests.ts'
import type { Ended } from '../../cli/command.ts'
import { programIn } from '../../cli/program.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** Of one user, and as many that the file declares. */
const ROWS = 150_000
const USERS = 14
/** Servers of each user whom the applied file declares: one transaction has users whole. */
const SERVERS_OF_USER = 500
const KEYS_OF_USER = 5
/** Enough keys that each is used again only after more than a second. */
const POLL_MS = 20

async function issueKeys(databasePath: string): Promise<string[]> {
  const store = await openSqliteStore(databasePath, { create: true })
  const keys: string[] = []
  for (let number = 0; number < USERS; number += 1) {
    const user = createUser(`user${number}@example.com`)
    await recordsOf(store).insertUser(user, operatorAt(presentInstant()))
    for (let name = 1; name <= KEYS_OF_USER; name += 1) {
      const issued = await issueApiKey(
        store.database,
        user.id,
        `${name}`,
        operatorAt(presentInstant()),
      )
      if ('key' in issued) keys.push(issued.key)
    }
    if (number === 0) await fill(store, user.id)
  }
  await store.close()
  return keys
}

async function fill(store: Store, userId: string): Promise<void> {
  const { saveServers } = recordsOf(store)
  for (let start = 0; start < ROWS; start += 10_000)
    await saveServers(userId, null, serversFrom(start, 10_000), operatorAt(presentInstant()))
}

const serversFrom = (start: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    name: `${start + n}`,
    address: `s${start + n}.example.com`,
  }))

test('applying and removing 150,000 rows beside a service causes no 502', async (t) => {
  const program = programIn(t)
  const keys = await issueKeys(program.databasePath)
  const file = join(program.folder, 'state.json')
  const servers = serversFrom(0, SERVERS_OF_USER)
  const users = Array.from({ length: ROWS / SERVERS_OF_USER }, (_, n) => ({
    email: `declared${n}@example.com`,
    servers,
  }))
  writeFileSync(file, JSON.stringify(documentOf({ users })))
  const served = await program.serve()

  async function pollBeside(command: string, polledKeys: readonly string[]) {
    const { ended, answers } = await beside(program.begin(command).ended, served.port, polledKeys)
    const statuses = new Set(answers.map(({ status }) => status))
    statuses.delete(429)
    assert.deepEqual([...statuses], [200], served.stdout())
    const listed = answers.filter(({ status }) => status === 200)
    assert.ok(listed.length > answers.length / 2, `${listed.length} of ${answers.length} were 200`)
    const slowest = Math.max(...answers.map(({ ms }) => ms))
    t.diagnostic(
      `${command}: ${listed.length} of ${answers.length} polls were 200, the slowest took ${slowest.toFixed()} ms`,
    )
    return { ended, listed }
  }

  const { ended } = await pollBeside(`apply ${file} --yes`, keys)
  assert.equal(ended.code, 0, ended.stderr)
  assert.match(ended.stderr, /150,300 added, 0 changed, 0 removed or revoked\n/)

  // More rows than a call can have arguments.
  const table = await program.done('server list --user user0@example.com')
  assert.equal(table.split('\n').length, ROWS + 1)

  // A list of all users' servers prints page after page. All rows at once would take more memory.
  const all = await program.begin('server list', {
    env: { NODE_OPTIONS: '--max-old-space-size=64' },
  }).ended
  assert.equal(all.code, 0, all.stderr)
  assert.equal(all.stdout.trimEnd().split('\n').length, 2 * ROWS + 1)

  const othersKeys = keys.slice(KEYS_OF_USER)
  const removed = await pollBeside('user remove user0@example.com --yes', othersKeys)
  assert.equal(removed.ended.code, 0, removed.ended.stderr)
  assert.equal((await ask(served.port, { key: keys[0]! })).status, 401)
  assert.equal(await program.done('server list --user user1@example.com --json'), '[]')
})

interface Polled {
  status: number
  ms: number
  servers: number
}

/** Requests the listing with each key in turn while the command runs. */
async function beside(
  running: Promise<Ended>,
  port: number,
  keys: readonly string[],
): Promise<{ ended: Ended; answers: Polled[] }> {
  const over = new AbortController()
  const ending = running.finally(() => over.abort())
  const polls: Promise<Polled>[] = []
  while (!over.signal.aborted) {
    polls.push(poll(port, keys[polls.length % keys.length]!))
    await delay(POLL_MS)
  }
  return { ended: await ending, answers: await Promise.all(polls) }
}

async function poll(port: number, key: string): Promise<Polled> {
  const since = performance.now()
  const { status, body } = await ask(port, { key })
  const servers = status === 200 ? JSON.parse(body).servers.length : 0
  return { status, ms: performance.now() - since, servers }
}
