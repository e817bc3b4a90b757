import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { openPostgresStore } from '../../../src/postgres/store.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { addOwner } from '../../fixtures/service.ts'
import { openStore } from '../claims/outcomes.ts'
import { untilWaiting } from '../other-session.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('two processes that revoke the same leaked keys at once succeed with any plans', async (t) => {
  const url = await createMigratedDatabase(server)
  const store = await openStore(t, url)
  const byHash = await openPostgresStore(withSettings(url, ['seqscan', 'bitmapscan']), {
    create: true,
  })
  const byPlace = await openPostgresStore(withSettings(url, ['indexscan', 'bitmapscan']), {
    create: true,
  })
  t.after(() => Promise.all([byHash.close(), byPlace.close()]))
  const hashes: Buffer[] = []
  for (let index = 0; index < 40; index += 1)
    hashes.push(hashApiKey((await addOwner(store, `ada${index}@example.com`)).key))

  await asAdmin(url, async (admin) => {
    // Both processes stop at this row. Each has locked rows that the other reaches after it.
    await admin.query('BEGIN')
    await admin.query('SELECT FROM api_keys WHERE key_hash = $1 FOR UPDATE', [rowBetween(hashes)])
    const revoked = [byHash, byPlace].map((one) =>
      recordsOf(one).revokeApiKeysByHash(hashes, operatorAt(1)),
    )
    await untilWaiting(url, 2)
    await admin.query('COMMIT')
    for (const one of revoked) assert.equal((await one).length, 40)
  })
})

/**
 * A hash in the middle of both orders, by place and by hash: either process locks rows before it.
 */
function rowBetween(hashes: readonly Buffer[]): Buffer {
  const byHash = hashes.toSorted(Buffer.compare)
  const inMiddle = hashes.slice(10, 30).find((hash) => {
    const place = byHash.indexOf(hash)
    return place >= 10 && place < 30
  })
  assert.ok(inMiddle !== undefined)
  return inMiddle
}

function withSettings(url: string, off: readonly string[]): string {
  const options = off.map((one) => `-c enable_${one}=off`).join(' ')
  return `${url}?options=${encodeURIComponent(options)}`
}
