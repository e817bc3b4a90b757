import assert from 'node:assert/strict'
import { test } from 'node:test'
import { politePace } from '../src/pace.ts'
import { readTarget } from '../src/wire/target.ts'
import { randomFrom, seedOfRun } from '../../test/fixtures/random.ts'

test('a foreign host gets at most two requests in any second, however they are taken', async (t) => {
  const seed = seedOfRun()
  t.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  let now = 0
  const clock = { now: () => now, sleep: async (ms: number) => (now += ms) }
  const pace = politePace(clock)
  const sent: number[] = []
  for (let takes = 0; takes < 500; takes += 1) {
    const count = random.between(1, 2)
    await pace.take(count)
    for (let index = 0; index < count; index += 1) sent.push(now)
    now += random.between(0, 1) * random.between(0, 1_300)
  }
  for (const [index, first] of sent.slice(0, -2).entries())
    assert.ok(sent[index + 2]! - first >= 1_000, `three requests from ${first} ms on`)
  await assert.rejects(pace.take(3), RangeError)
})

test('only loopback addresses are hosts of this machine', () => {
  for (const host of ['127.0.0.1', '127.8.8.8', 'localhost', '[::1]'])
    assert.equal(readTarget(`http://${host}:8080`)?.isLocal, true, host)
  for (const host of ['10.0.0.1', '128.0.0.1', '127.0.0.1.example.com', 'localhost.example.com'])
    assert.equal(readTarget(`http://${host}`)?.isLocal, false, host)
})

test('a base address has a scheme and no user, query or fragment', () => {
  const bad = [
    'example.com',
    'ftp://x',
    'https://u:p@x',
    'https://x?y',
    'https://x#y',
    '',
    'https:',
  ]
  for (const text of bad) assert.equal(readTarget(text), null, text)
  const { url, isTls, host, port, authority, path } = readTarget('HTTPS://[2001:db8::1]:8443/api/')!
  assert.deepEqual(
    { url, isTls, host, port, authority, path },
    {
      url: 'https://[2001:db8::1]:8443/api',
      isTls: true,
      host: '2001:db8::1',
      port: 8443,
      authority: '[2001:db8::1]:8443',
      path: '/api',
    },
  )
})
