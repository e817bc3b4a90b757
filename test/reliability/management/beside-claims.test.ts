import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { ask } from '../../fixtures/requests.ts'
import { uuidOf } from '../../fixtures/uuid-of.ts'
import { openDoor } from '../../management/door.ts'

const CLIENTS = 20
const ROWS = 2_000

test('beside the largest documents on SQLite, each claim is decided', async (t) => {
  const door = await openDoor(t)
  const owners = Array.from({ length: ROWS }, (_, index) => ({ external_id: String(index) }))
  await door.read(200, 'POST /v1/acts', { body: { put_users: owners } })
  const actor = { address: '', at: presentInstant() }
  const keys = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, index) => {
      const user = await door.read(200, `GET /v1/users/${index}`)
      const issued = await issueApiKey(door.store.database, String(user.id), 'bot', actor)
      return 'key' in issued ? issued.key : assert.fail(issued.refused)
    }),
  )
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const ending = new AbortController()
  const statuses = new Map<number, number>()
  const polling = keys.map(async (key) => {
    while (!ending.signal.aborted) {
      const { status } = await ask(door.service.port, { key, agent })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await delay(20)
    }
  })
  for (const name of ['one', 'two', 'three']) {
    const put_servers = owners.map((owner, index) => ({
      ...owner,
      id: uuidOf(index),
      name,
      address: 'play.example.com',
    }))
    const put_keys = owners.map((owner, index) => ({
      ...owner,
      name,
      key_hash: index.toString(16).padStart(64, '0'),
    }))
    for (const body of [{ put_servers }, { put_keys }])
      await door.read(200, 'POST /v1/acts', { body })
    await delay(500)
  }
  ending.abort()
  await Promise.all(polling)
  assert.deepEqual(
    [...statuses.keys()].toSorted((a, b) => a - b),
    [200, 429],
  )
  assert.deepEqual(door.faults, [])
})
