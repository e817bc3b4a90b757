import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { readCsv } from '../../../src/servers/file/csv.ts'
import { SERVERS_PART_MAX } from '../../../src/servers/server.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

const SERVERS = 2 * SERVERS_PART_MAX + 1

test('an export of more servers than are read together has all of them, newest first', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const entries = Array.from({ length: SERVERS }, (_, at) => ({
    name: `Sérver ${at}`,
    address: `s${at}.example.com`,
    updated_at: presentInstant() - at * 1_000_000,
  }))
  await recordsOf(store).saveServers(user.id, null, entries, operatorAt(presentInstant()))
  const names = entries.map(({ name }) => name)
  for (const format of ['json', 'csv'] as const) {
    const { status, headers, body } = await person.get(`/dashboard/servers/export.${format}`)
    assert.equal(status, 200)
    assert.equal(Number(headers['content-length']), Buffer.byteLength(body))
    assert.equal(headers['transfer-encoding'], undefined)
    const read =
      format === 'json'
        ? (JSON.parse(body) as { name: string }[]).map(({ name }) => name)
        : (readCsv(body, ',') as string[][]).slice(1).map(([, name]) => name)
    assert.deepEqual(read, names)
  }
})
