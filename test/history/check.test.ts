import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../fixtures/folder.ts'
import { check, describe, excerpt } from './check.ts'
import { alarm, change, get, history, operation, revoke, silence, stamp } from './hand-written.ts'
import { readHistory, writeHistory } from './record.ts'

/*
 * The checker sees each invariant broken by a hair, and says nothing where it only just holds.
 */

const onConnection = (connection: number, place: number) => ({ connection, place })
const listFailed = { body: 'Failed to load servers.' }
const authenticationFailed = { body: 'Authentication service error.' }

test('I1: two uses within a second', () => {
  alarm('I1', [get(0, 5, 200), get(990, 999.999, 200)])
  silence([get(0, 5, 200), get(990, 1_000, 200)])
})

test('I1: the instants are chosen in favour of the service, whichever request ended first', () => {
  alarm('I1', [get(0, 900, 200), get(10, 20, 200)])
  silence([get(0, 1_000, 200), get(10, 20, 200)])
})

test('I2: a refusal without a use in the second before it', () => {
  alarm('I2', [get(0, 5, 200), get(1_005, 1_006, 429)])
  silence([get(0, 5, 200), get(1_004.999, 1_006, 429)])
  alarm('I2', [get(0, 5, 429)])
})

test('I2: whoever is at the key meanwhile is a cause; another refusal is not', () => {
  silence([get(0, 5, 429), get(4, 9, 502, listFailed)])
  silence([get(0, 5, 429), operation('lock', 4, 9)])
  silence([get(0, 5, 429), revoke(4, 9)])
  alarm('I2', [get(0, 5, 429), get(4, 9, 429)])
})

test('I2: a refusal is a cause if it was at the key first, and came to nothing for a use made meanwhile', () => {
  const operations = [get(0, 50, 429), get(4, 9, 429), get(30, 40, 200)]
  silence(operations)
  silence(operations, { stamps: [stamp(35)] })
  alarm('I2', operations.slice(0, 2), { stamps: [] })
  alarm('I2', [get(0, 29.999, 429), get(4, 9, 429), get(30, 40, 200)])
  alarm('I2', [get(0, 34.999, 429), get(4, 9, 429), get(30, 40, 200)], { stamps: [stamp(35)] })
})

test('I2: a request without an answer, or whose commit was not acknowledged, may have been a use', () => {
  silence([get(0, 5, 0), get(10, 15, 429)])
  silence([get(0, 5, 502, authenticationFailed), get(10, 15, 429)])
  // Even of one that died the store has done all it will do after a while.
  alarm('I2', [get(0, 5, 0), get(3_505, 3_510, 429)])
  silence([get(0, 5, 0), get(3_504.999, 3_510, 429)])
})

test("I2: the store's record tells whether it was one", () => {
  const operations = [get(0, 5, 0), get(3_000, 3_005, 429)]
  alarm('I2', operations, { stamps: [] })
  alarm('I2', operations, { stamps: [stamp(2_000)] })
  silence(operations, { stamps: [stamp(2_000.001)] })
})

test('I3: a failure that spent the second', () => {
  alarm('I3', [get(0, 5, 502, listFailed), get(10, 15, 429)])
  silence([get(0, 5, 502, listFailed), get(10, 15, 200), get(20, 25, 429)])
})

test('I4: a use, or a refusal for the limit, after the revocation', () => {
  alarm('I4', [revoke(0, 5), get(5.001, 9, 200)])
  alarm('I4', [get(-90, -80, 200), revoke(0, 5), get(5.001, 9, 429)])
  silence([revoke(0, 5), get(5, 9, 200)])
  silence([revoke(0, 5), get(6, 9, 401), get(10, 15, 502, listFailed), get(20, 25, 0)])
})

test('I4: unknown before the revocation', () => {
  alarm('I4', [get(0, 4.999, 401), revoke(5, 9)])
  alarm('I4', [get(0, 5, 401)])
  silence([get(0, 5.001, 401), revoke(5, 9)])
})

test('I4: known again, also where nobody knows whether the revocation was done', () => {
  alarm('I4', [revoke(0, 5, 0), get(6, 9, 401), get(9.001, 12, 200)])
  silence([revoke(0, 5, 0), get(6, 9, 401), get(9, 12, 200)])
})

test('I5: whoever waits as it was told is not refused', () => {
  alarm('I5', [get(0, 1, 200), get(500, 505, 429), get(1_505, 1_510, 429)])
  silence([get(0, 1, 200), get(500, 505, 429), get(1_100, 1_105, 200), get(1_505, 1_510, 429)])
})

test('I6: the last use moves with a use only', () => {
  const operations = [get(0, 5, 200), get(1_010, 1_015, 502, listFailed)]
  alarm('I6', operations, { stamps: [stamp(3), stamp(1_012)] })
  silence(operations, { stamps: [stamp(3)] })
  const unknown = [get(0, 5, 200), get(1_010, 1_015, 0)]
  silence(unknown, { stamps: [stamp(3), stamp(3_515)] })
  alarm('I6', unknown, { stamps: [stamp(3), stamp(3_515.001)] })
})

test('I6: the last use does not go back', () => {
  const operations = [get(0, 5, 200), get(1_010, 1_015, 200)]
  alarm('I6', operations, { stamps: [stamp(3), stamp(1_012, { used_at: 2_999 })] })
  silence(operations, { stamps: [stamp(3), stamp(1_012, { used_at: 3_000 })] })
})

test('I6: what is shown in the end is the last use', () => {
  const operations = [get(0, 5, 200)]
  alarm('I6', operations, { stamps: [stamp(3)], lastUses: { k: null } })
  alarm('I6', operations, { stamps: [stamp(3)], lastUses: { k: 2_999 } })
  silence(operations, { stamps: [stamp(3)], lastUses: { k: 3_000 } })
})

test("I7: in the store's record uses are a second apart", () => {
  // The requests took long, so that to the clients all is well.
  const operations = [get(0, 600, 200), get(10, 1_600, 200)]
  alarm('I7', operations, { stamps: [stamp(500), stamp(1_499.999)] })
  silence(operations, { stamps: [stamp(500), stamp(1_500)] })
})

test("I7: each 200 has its own place in the store's record, within the request", () => {
  const operations = [get(0, 5, 200), get(1_010, 1_015, 200)]
  alarm('I7', operations, { stamps: [stamp(3)] })
  alarm('I7', operations, { stamps: [stamp(3), stamp(1_015.001)] })
  silence(operations, { stamps: [stamp(3), stamp(1_015)] })
})

test('I7: no use is recorded as of a time when its row was of somebody else', () => {
  const operations = [operation('held', 0, 700), get(10, 710, 200)]
  alarm('I7', operations, { stamps: [stamp(699.999)] })
  silence(operations, { stamps: [stamp(700)] })
})

test('I8: one answer for one request, in order', () => {
  const first = get(0, 5, 401, { key: '', ...onConnection(1, 1) })
  alarm('I8', [first, { ...operation('unasked', 6, 6), ...onConnection(1, 2), key: '' }])
  const health = (from: number, to: number, status: number) => ({
    ...operation('health', from, to, status),
    key: '',
    ...onConnection(1, 2),
  })
  alarm('I8', [first, health(0, 4.999, 200)])
  alarm('I8', [first, health(0, 6, 429)])
  alarm('I8', [{ ...first, status: 0 }, health(0, 6, 200)])
  silence([first, health(0, 5, 200)])
  silence([first, health(0, 6, 0)])
})

test('I8: no answer that the specification does not know', () => {
  alarm('I8', [get(0, 5, 500)])
})

test('I9: a use within two and a half seconds after the last fault', () => {
  const asked = [get(0, 5, 502, listFailed), get(2_990, 2_995, 502, listFailed)]
  alarm('I9', asked, { calmFrom: 0 })
  alarm('I9', [...asked, get(2_490, 2_500.001, 200)], { calmFrom: 0 })
  silence([...asked, get(2_490, 2_500, 200)], { calmFrom: 0 })
  // Counted from the first time that the key is asked with.
  silence([get(500, 505, 502, listFailed), get(2_990, 2_999, 502, listFailed)], { calmFrom: 0 })
})

test('I10: a list that had been replaced, was not yet written, or never was', () => {
  const changed = change(10, 20, 'v2')
  alarm('I10', [changed, get(20.001, 25, 200)])
  silence([changed, get(20, 25, 200)])
  alarm('I10', [changed, get(0, 9.999, 200, { body: 'v2' })])
  silence([changed, get(0, 10, 200, { body: 'v2' })])
  alarm('I10', [get(0, 5, 200, { body: 'v3' })])
})

test('I10: a change without an answer may come late, or never', () => {
  const changed = change(10, 20, 'v2', 0)
  silence([changed, get(30, 35, 200), get(1_500, 1_505, 200, { body: 'v2' })])
})

test('the first of several violations is told, in words and with its requests', () => {
  const record = history([get(2_000, 2_005, 500), get(0, 5, 200), get(500, 505, 200)])
  const found = check(record)!
  assert.equal(
    describe(found),
    [
      'I1: two uses of k at most 505000 µs apart',
      'get k: 200 (v1), from 0 to 5000 µs',
      'get k: 200 (v1), from 500000 to 505000 µs',
    ].join('\n  '),
  )
  assert.deepEqual(excerpt(record, found), [get(0, 5, 200), get(500, 505, 200)])
})

test('a record survives its file', (t) => {
  const path = join(temporaryFolder(t), 'history.jsonl')
  const record = history([get(0, 5, 200)], { stamps: [stamp(3)], lastUses: { k: 3_000 } })
  writeHistory(path, record)
  assert.deepEqual(readHistory(path), record)
})
