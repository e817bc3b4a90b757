import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openDoor } from '../../management/door.ts'
import { recordsOf } from '../../fixtures/records.ts'

test('a body that arrives for longer than 15 seconds gets a 408 and does nothing', async (t) => {
  const door = await openDoor(t)
  const user = await door.addUser('7')
  const outgoing = request({
    host: '127.0.0.1',
    port: door.port,
    method: 'POST',
    path: '/v1/users/7/keys',
    headers: {
      authorization: `Bearer ${door.token}`,
      'content-type': 'application/json',
      'content-length': '40',
    },
  })
  const begunAt = performance.now()
  let isAnswered = false
  const answered = new Promise<number>((resolve) => {
    outgoing.on('response', (incoming) => {
      isAnswered = true
      incoming.resume()
      assert.equal(incoming.headers['content-type'], 'application/json; charset=utf-8')
      resolve(incoming.statusCode ?? 0)
    })
  })
  outgoing.on('error', () => {})
  for (const letter of '{"name":"bot"'.padEnd(39)) {
    if (isAnswered) break
    outgoing.write(letter)
    await delay(500)
  }
  assert.equal(await answered, 408)
  const seconds = (performance.now() - begunAt) / 1_000
  assert.ok(seconds > 14 && seconds < 25, `${seconds} s`)
  assert.deepEqual(await recordsOf(door.store).listApiKeys(user.id), [])
  assert.deepEqual(door.faults, [])
})
