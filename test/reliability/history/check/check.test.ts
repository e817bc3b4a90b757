import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { check, describe, excerpt } from './check.ts'
import {
  alarm,
  change,
  get,
  history,
  incident,
  operation,
  revoke,
  silence,
  stamp,
} from '../record/hand-written.ts'
import { readHistory, writeHistory } from '../record/record.ts'

/*
 * The checker notices each invariant that is broken by a hair, and stays silent if it just holds.
 */

const onConnection = (connection: number, place: number) => ({ connection, place })
const listFailed = { body: 'Failed to load servers.' }

test('I1: two granted claims within one second contradict the limit', () => {
  alarm('I1', [get(0, 5, 200), get(990, 999.999, 200)])
  silence([get(0, 5, 200), get(990, 1_000, 200)])
})

test('I1: the checker chooses the instants that suit the service, whichever request ended first', () => {
  alarm('I1', [get(0, 900, 200), get(10, 20, 200)])
  silence([get(0, 1_000, 200), get(10, 20, 200)])
})

test('I4: a revoked key gets neither a 200 nor a 429', () => {
  alarm('I4', [revoke(0, 5), get(5.001, 9, 200)])
  alarm('I4', [get(-90, -80, 200), revoke(0, 5), get(5.001, 9, 429)])
  silence([revoke(0, 5), get(5, 9, 200)])
  silence([revoke(0, 5), get(6, 9, 401), get(10, 15, 502, listFailed), get(20, 25, 0)])
})

test('I4: a key is not unknown before its revocation', () => {
  alarm('I4', [get(0, 4.999, 401), revoke(5, 9)])
  alarm('I4', [get(0, 5, 401)])
  silence([get(0, 5.001, 401), revoke(5, 9)])
})

test('I4: a revoked key is not known again, even if the revocation was never acknowledged', () => {
  alarm('I4', [revoke(0, 5, 0), get(6, 9, 401), get(9.001, 12, 200)])
  silence([revoke(0, 5, 0), get(6, 9, 401), get(9, 12, 200)])
})

test('I6: last_used_at moves only with a granted claim', () => {
  const operations = [get(0, 5, 200), get(1_010, 1_015, 502, listFailed)]
  alarm('I6', operations, { stamps: [stamp(3), stamp(1_012)] })
  silence(operations, { stamps: [stamp(3)] })
})

test('I6: a request without an answer may be recorded until its own end', () => {
  const unknown = [get(0, 5, 200), get(1_010, 1_015, 0)]
  silence(unknown, { stamps: [stamp(3), stamp(1_015)] })
  alarm('I6', unknown, { stamps: [stamp(3), stamp(1_015.001)] })
})

test('I6: a request that met a fault which leaves transactions behind may be recorded 2.5 s after both', () => {
  const unknown = [get(0, 5, 200), get(1_010, 1_015, 0)]
  const killed = incident(1_012, 1_014, { orphans: true })
  silence(unknown, { stamps: [stamp(3), stamp(3_515)], incidents: [killed] })
  alarm('I6', unknown, { stamps: [stamp(3), stamp(3_515.001)], incidents: [killed] })
  const stopped = incident(1_012, 4_000, { orphans: true })
  silence(unknown, { stamps: [stamp(3), stamp(6_500)], incidents: [stopped] })
  alarm('I6', unknown, { stamps: [stamp(3), stamp(6_500.001)], incidents: [stopped] })
  // The fault leaves no transaction behind, touches another key, or was over.
  for (const other of [{ orphans: false }, { key: 'other' }, { t0: 0, t1: 1_010_000 }]) {
    const incidents = [{ ...killed, ...other }, incident(1_012, 1_014)]
    alarm('I6', unknown, { stamps: [stamp(3), stamp(1_015.001)], incidents })
  }
})

test('I6: last_used_at does not go back', () => {
  const operations = [get(0, 5, 200), get(1_010, 1_015, 200)]
  alarm('I6', operations, { stamps: [stamp(3), stamp(1_012, { claimed_at: 2_999 })] })
  silence(operations, { stamps: [stamp(3), stamp(1_012, { claimed_at: 3_000 })] })
})

test('I6: last_used_at in the end is the instant of the last recorded claim', () => {
  const operations = [get(0, 5, 200)]
  alarm('I6', operations, { stamps: [stamp(3)], lastUses: { k: null } })
  alarm('I6', operations, { stamps: [stamp(3)], lastUses: { k: 2_999 } })
  silence(operations, { stamps: [stamp(3)], lastUses: { k: 3_000 } })
})

test("I7: claims in the store's record are one second apart", () => {
  // The requests took so long that clients see nothing wrong.
  const operations = [get(0, 600, 200), get(10, 1_600, 200)]
  alarm('I7', operations, { stamps: [stamp(500), stamp(1_499.999)] })
  silence(operations, { stamps: [stamp(500), stamp(1_500)] })
})

test("I7: each 200 has its own entry in the store's record, from within the request", () => {
  const operations = [get(0, 5, 200), get(1_010, 1_015, 200)]
  alarm('I7', operations, { stamps: [stamp(3)] })
  alarm('I7', operations, { stamps: [stamp(3), stamp(1_015.001)] })
  silence(operations, { stamps: [stamp(3), stamp(1_015)] })
})

test('I7: no claim is recorded at a time when another session held its row', () => {
  const operations = [operation('held', 0, 700), get(10, 710, 200)]
  alarm('I7', operations, { stamps: [stamp(699.999)] })
  silence(operations, { stamps: [stamp(700)] })
})

test('I8: each request gets one answer, in order', () => {
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

test('I8: no answer is outside the specification', () => {
  alarm('I8', [get(0, 5, 500)])
})

test('I8: each answer has the header and body of its status', () => {
  alarm('I8', [get(0, 5, 200, { flaw: 'a 200 has content-type: text/plain' })])
})

test('I9: each key gets a 200 within 2.5 s after the last fault', () => {
  const asked = [get(0, 5, 502, listFailed), get(2_990, 2_995, 502, listFailed)]
  alarm('I9', asked, { calmFrom: 0 })
  alarm('I9', [...asked, get(2_490, 2_500.001, 200)], { calmFrom: 0 })
  silence([...asked, get(2_490, 2_500, 200)], { calmFrom: 0 })
  // The time counts from the first request with the key.
  silence([get(500, 505, 502, listFailed), get(2_990, 2_999, 502, listFailed)], { calmFrom: 0 })
})

test('I10: a 200 shows no list that was replaced before, written later or never written', () => {
  const changed = change(10, 20, 'v2')
  alarm('I10', [changed, get(20.001, 25, 200)])
  silence([changed, get(20, 25, 200)])
  alarm('I10', [changed, get(0, 9.999, 200, { body: 'v2' })])
  silence([changed, get(0, 10, 200, { body: 'v2' })])
  alarm('I10', [get(0, 5, 200, { body: 'v3' })])
})

test('I10: a change without an answer may take effect late or never', () => {
  const changed = change(10, 20, 'v2', 0)
  silence([changed, get(30, 35, 200), get(1_500, 1_505, 200, { body: 'v2' })])
})

test('the checker reports the first violation, in words and with its requests', () => {
  const record = history([get(2_000, 2_005, 500), get(0, 5, 200), get(500, 505, 200)])
  const found = check(record)!
  assert.equal(
    describe(found),
    [
      'I1: two granted claims of k at most 505000 µs apart',
      'get k: 200 (v1), from 0 to 5000 µs',
      'get k: 200 (v1), from 500000 to 505000 µs',
    ].join('\n  '),
  )
  assert.deepEqual(excerpt(record, found), [get(0, 5, 200), get(500, 505, 200)])
})

test('a record read from its file is the one that was written', (t) => {
  const path = join(temporaryFolder(t), 'history.jsonl')
  const record = history([get(0, 5, 200)], { stamps: [stamp(3)], lastUses: { k: 3_000 } })
  writeHistory(path, record)
  assert.deepEqual(readHistory(path), record)
})
