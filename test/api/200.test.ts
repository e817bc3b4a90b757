import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../fixtures/requests.ts'
import { addOwner } from '../fixtures/service.ts'
import { startDescribedService } from '../openapi/described-service.ts'
import { assertAnswer } from './answers.ts'
import { recordsOf } from '../fixtures/records.ts'
import { NOW } from '../fixtures/clock.ts'

test('a listing has exactly the eight fields of a server, in their order, null where unknown', async (t) => {
  const { port, store } = await startDescribedService(t)
  const { key, user } = await addOwner(store, 'ada@example.com', [
    { name: 'Überleben "2" 🏰', address: 'play.example.com:25565', updated_at: NOW },
    {
      name: 'Realm',
      address: '[2001:db8::1]:19132',
      slug: 'the-realm',
      edition: 'bedrock',
      status: 'draft',
      version: '1.21.4',
      listing_kind: 'realm',
      updated_at: NOW + 1,
    },
  ])
  const ids = (await recordsOf(store).listServers(user.id)).map(({ id }) => id)
  const answer = await ask(port, { key })
  assertAnswer(
    answer,
    200,
    `{"servers":[{"id":"${ids[0]}","name":"Realm","slug":"the-realm","address":"[2001:db8::1]:19132",` +
      `"edition":"bedrock","status":"draft","version":"1.21.4","listing_kind":"realm"},` +
      `{"id":"${ids[1]}","name":"Überleben \\"2\\" 🏰","slug":null,"address":"play.example.com:25565",` +
      `"edition":"java","status":"published","version":null,"listing_kind":null}]}`,
  )
  assert.equal(answer.headers['content-length'], String(Buffer.byteLength(answer.body)))
})

test("/health has no limit and does not spend a key's second", async (t) => {
  const { port, store } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  for (let count = 0; count < 5; count += 1)
    assert.equal((await ask(port, { path: '/health', key })).status, 200)
  assert.equal((await ask(port, { key })).status, 200)
})
