import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ClientBase, QueryConfig } from 'pg'
import { claimBatch } from '../../../src/postgres/claims/claims.ts'
import type { Server } from '../../fixtures/postgres/server.ts'
import { callWith, nameOf, openBatches, openServerForBatches } from './open-batches.ts'

/*
 * One key that hundreds of callers hammer costs the other keys little. This test counts it;
 * `npm run bench -- postgres` measures it.
 */

const CALLERS = 500

let server: Server
let url: string
before(async () => {
  ;({ server, url } = await openServerForBatches())
})
after(() => server.remove())

test('a key with 500 concurrent callers takes one place in the statement', async (t) => {
  const { client, known, ada, bob, eve } = await openBatches(t, url)
  const counts: number[] = []
  const query = (statement: QueryConfig) => {
    // The number of elements in an array's header.
    counts.push((statement.values![0] as Buffer).readInt32BE(12))
    return client.query(statement)
  }
  const keys = [bob.key, ...Array<string>(CALLERS).fill(ada.key), eve.key]
  const outcomes = await claimBatch({ query } as ClientBase, known, keys.map(callWith))
  assert.deepEqual(counts, [3])
  const names = outcomes.map(nameOf)
  assert.deepEqual([names[0], names[1], names.at(-1)], ['granted', 'granted', 'granted'])
  assert.deepEqual(new Set(names.slice(2, -1)), new Set(['limited']))
})
