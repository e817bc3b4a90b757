import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { claimBatch } from '../../../src/postgres/claims/claims.ts'
import { holding } from '../../fixtures/listings.ts'
import type { Server } from '../../fixtures/postgres/server.ts'
import { callWith, grantedOf, openBatches, openServerForBatches } from './open-batches.ts'

/* The listings that a granted claim returns, or confirms as they are cached. */

let server: Server
let url: string
before(async () => {
  ;({ server, url } = await openServerForBatches())
})
after(() => server.remove())

test('from the second claim on, a valid cached revision spares the rows', async (t) => {
  const { client, known, ada, none, age } = await openBatches(t, url)
  const asked: string[] = []
  const claim = async (key: string, revision: string | null) => {
    const { get } = holding(revision)
    const listings = { get: (id: string) => get(asked[asked.push(id) - 1]!) }
    const call = { keyHash: hashApiKey(key), listings }
    const [outcome] = await claimBatch(client, known, [call])
    await age()
    return grantedOf(outcome!)
  }
  const first = await claim(ada.key, randomUUID())
  assert.deepEqual(asked, [])
  assert.equal((await claim(ada.key, first.revision)).rows, null)
  assert.deepEqual(asked, [ada.user.id])
  assert.equal((await claim(ada.key, first.revision)).rows, null)
  assert.equal((await claim(ada.key, null)).rows?.length, 2)
  assert.equal((await claim(ada.key, randomUUID())).rows?.length, 2)
  await client.query(`UPDATE servers SET name = 'x' WHERE created_by = $1`, [ada.user.id])
  const changed = await claim(ada.key, first.revision)
  assert.equal(changed.rows?.length, 2)
  assert.notEqual(changed.revision, first.revision)
  // An owner who never had a server has no revision, so that each claim reads the list.
  const empty = await claim(none.key, null)
  assert.deepEqual((await claim(none.key, empty.revision)).rows, [])
})

test('a key that is inserted again with another id is claimed and counted under that id', async (t) => {
  const { client, known, ada, age } = await openBatches(t, url)
  const first = grantedOf((await claimBatch(client, known, [callWith(ada.key)]))[0]!)
  const id = randomUUID()
  const columns = 'user_id, name, prefix, key_hash, created_at'
  const row = `FROM api_keys WHERE id = '${ada.keyId}'`
  await client.query(`CREATE TEMP TABLE deleted AS SELECT ${columns} ${row}`)
  await client.query(`DELETE ${row}`)
  await client.query(`INSERT INTO api_keys (id, ${columns}) SELECT '${id}', * FROM deleted`)
  await age()
  const held = { keyHash: hashApiKey(ada.key), listings: holding(first.revision) }
  const [again] = await claimBatch(client, known, [held])
  assert.equal(grantedOf(again!).apiKeyId, id)
})

test('a listing keeps every character that PostgreSQL stores', async (t) => {
  const { client, known, ada } = await openBatches(t, url)
  const name = `"\\'{},\n\t\u0001\u007f é 🎮 \u2028 <b>&amp; NULL`
  await client.query('UPDATE servers SET name = $1 WHERE created_by = $2', [name, ada.user.id])
  const [used] = await claimBatch(client, known, [callWith(ada.key)])
  assert.deepEqual(
    grantedOf(used!).rows?.map((row) => row.name),
    [name, name],
  )
})
