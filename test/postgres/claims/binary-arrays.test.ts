import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { byteaArray, uuidArray } from '../../../src/postgres/claims/binary-arrays.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'

/* What PostgreSQL reads in the arrays that the service encodes. */

let server: Server
let client: pg.Client
before(async () => {
  server = await openServer()
  client = new pg.Client(server.url())
  await client.connect()
})
after(async () => {
  await client.end()
  await server.remove()
})

const FIRST = '00000000-0000-0000-0000-000000000000'
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

test('UUIDs and nulls arrive in their order, at any place and in any number', async () => {
  const many = Array.from({ length: 128 }, (_, n) => (n % 3 === 0 ? null : randomUUID()))
  const one = randomUUID()
  for (const sent of [[], [null], [one], [FIRST, null, LAST, one, one], [null, null, one], many])
    assert.deepEqual(await elementsOf('uuid', uuidArray(sent)), sent)
})

test('hashes arrive in their order, also a view of a part of a larger buffer', async () => {
  const part = new Uint8Array(randomBytes(64).buffer, 16, 32)
  const ends = [Buffer.alloc(32), Buffer.alloc(32, 0xff)]
  const many = Array.from({ length: 128 }, () => randomBytes(32))
  for (const sent of [[], [part], [...ends, part, part], many])
    assert.deepEqual(
      await elementsOf('bytea', byteaArray(sent)),
      sent.map((hash) => `\\x${Buffer.from(hash).toString('hex')}`),
    )
})

async function elementsOf(type: string, array: Buffer): Promise<(string | null)[]> {
  const { rows } = await client.query<{ element: string | null }>(
    `SELECT element::text FROM unnest($1::${type}[]) WITH ORDINALITY AS sent (element, n) ORDER BY n`,
    [array],
  )
  return rows.map(({ element }) => element)
}
