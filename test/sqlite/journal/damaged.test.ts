import assert from 'node:assert/strict'
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { readRevocations } from '../../../src/open-store.ts'
import type { Store } from '../../../src/database/store.ts'
import { inspectSqlite } from '../../../src/sqlite/inspect.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { hexOf, twoKeys } from './beside.ts'

/*
 * Lines of the journal that a crash has cut off, or a disk has damaged.
 */

const lineOf = (key: string) => `\n1970-01-01T00:00:00.000007Z key ${hexOf(key).toUpperCase()}\n`

test('a damaged line is told at each start and by doctor, and the others are united', async (t) => {
  const { path, journal, ada, bob, command } = await twoKeys(t)
  writeFileSync(journal, lineOf(ada.key).replace(' key ', ' kex ') + lineOf(bob.key))
  const said = /line 2 is not an instant, the word key and 64 hexadecimal digits; put what a copy/
  const faults: Error[] = []
  const onFault = (fault: unknown) => faults.push(fault as Error)
  await (await openServingSqliteStore(path, manualClock(), onFault)).close()
  await (await openSqliteStore(path, { create: false, onFault })).close()
  const messages = faults.map(({ message }) => message)
  assert.deepEqual(
    messages.map((message) => said.test(message)),
    [true, false, true],
  )
  assert.match(messages[1]!, /^1 active key was revoked again, because .* names them/)
  const revokedAt = ({ user }: typeof ada) =>
    command(async (store) => (await recordsOf(store).listApiKeys(user.id))[0]?.revoked_at)
  assert.deepEqual([await revokedAt(ada), await revokedAt(bob)], [null, 7])
  const finding = inspectSqlite(path, () => []).find(({ check }) => check === 'journal')
  assert.equal(finding?.state, 'problem')
  assert.match(finding.found, said)
})

test('a start after a crash completes the line that it cut off, and no later start warns', async (t) => {
  const { path, journal, ada, bob, command, lines } = await twoKeys(t)
  const revoke = ({ user, keyId }: typeof ada) =>
    command((store) => recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(7)))
  await revoke(bob)
  const before = statSync(journal).size
  await revoke(ada)
  const whole = readFileSync(journal)
  for (let size = before; size < whole.length; size += 1) {
    writeFileSync(journal, whole.subarray(0, size))
    for (let start = 0; start < 2; start += 1) {
      await (await openSqliteStore(path, { create: false, onFault: assert.ifError })).close()
      assert.deepEqual(lines(), [hexOf(bob.key), hexOf(ada.key)], `${size} bytes`)
    }
    const finding = inspectSqlite(path, () => []).find(({ check }) => check === 'journal')
    assert.equal(finding?.state, 'ok')
    const named = await readRevocations([journal], createReadStream)
    assert.deepEqual([...named.keys()], lines())
  }
})

test('a cut line whose revoke never returned is no fault, and no later line is lost', async (t) => {
  const { path, journal, ada, bob, command, lines, restoreOlder } = await twoKeys(t)
  const never = lineOf('svc_live_never')
  for (let size = 1; size < never.length - 1; size += 1) {
    writeFileSync(journal, never.slice(0, size))
    await command((store) => recordsOf(store).revokeApiKey(ada.user.id, ada.keyId, operatorAt(7)))
    assert.deepEqual(lines(), [hexOf(ada.key)], `${size} bytes`)
    await restoreOlder()
  }
  const faults: Error[] = []
  const onFault = (fault: Error) => faults.push(fault)
  const store = await openSqliteStore(path, { create: false, onFault })
  t.after(() => store.close())
  assert.match(faults.join(), /^RevivedKeys: 1 active key was revoked again[^,]*, because [^,]*$/)
  assert.equal(await revokedAt(store, ada.user.id), 7)
  assert.equal(await revokedAt(store, bob.user.id), null)
})

async function revokedAt(store: Store, userId: string) {
  return (await recordsOf(store).listApiKeys(userId))[0]?.revoked_at
}
