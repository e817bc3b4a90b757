import { test } from 'node:test'
import type { Incident, Operation } from '../record/record.ts'
import { alarm, get, incident, revoke, silence, stamp } from '../record/hand-written.ts'

/*
 * Refusals and failures. Each 429 needs a granted claim. Each 502 and each missing answer needs a
 * fault. Each bound has a history on both sides of it.
 */

const listFailed = { body: 'Failed to load servers.' }
const authenticationFailed = { body: 'Authentication service error.' }

test('I2: a refusal needs a granted claim within the second before it', () => {
  alarm('I2', [get(0, 5, 200), get(1_005, 1_006, 429)])
  silence([get(0, 5, 200), get(1_004.999, 1_006, 429)])
  alarm('I2', [get(0, 5, 429)])
})

test("I2: the store's record decides, whatever else happened to the key", () => {
  alarm('I2', [get(0, 5, 200), get(1_003, 1_006, 429)], { stamps: [stamp(3)] })
  silence([get(0, 5, 200), get(1_002.999, 1_006, 429)], { stamps: [stamp(3)] })
  alarm('I2', [get(0, 5, 429), get(4, 9, 502, listFailed)], { stamps: [] })
  alarm('I2', [get(0, 5, 429), get(4, 9, 0)], { stamps: [] })
  alarm('I2', [get(0, 5, 429), revoke(4, 9)], { stamps: [] })
  alarm('I3', [get(0, 5, 502, authenticationFailed), get(100, 105, 429)], { stamps: [] })
  alarm('I2', [get(0, 5, 502, authenticationFailed), get(2_400, 2_405, 429)], { stamps: [] })
})

test("I2: a fault is no cause, not even a lock on the key's row, if the store recorded no claim", () => {
  const incidents = [incident(0, 60_000, { key: 'k', fault: 'row locked', orphans: true })]
  alarm('I2', [get(1_000, 1_005, 429)], { stamps: [], incidents })
  silence([get(0, 5, 200), get(100, 105, 429)], { stamps: [stamp(3)], incidents })
})

test('I2: for clients alone, an overlapping request is a cause, and an overlapping refusal is none', () => {
  silence([get(0, 5, 429), get(4, 9, 502, listFailed)])
  silence([get(0, 5, 429), revoke(4, 9)])
  alarm('I2', [get(0, 5, 429), get(4, 9, 429)])
})

test('I2: for clients alone, an overlapping refusal is a cause if it held the key and lost it to a granted claim', () => {
  silence([get(0, 50, 429), get(4, 9, 429), get(30, 40, 200)])
  alarm('I2', [get(0, 29.999, 429), get(4, 9, 429), get(30, 40, 200)])
})

test('I2: for clients alone, a request whose commit was never acknowledged may have been granted', () => {
  for (const unknown of [get(0, 5, 0), get(0, 5, 502, authenticationFailed)]) {
    silence([unknown, get(1_004.999, 1_010, 429)])
    alarm('I2', [unknown, get(1_005, 1_010, 429)])
    // What a killed process left behind ends after a while.
    const incidents = [incident(2, 4, { orphans: true })]
    silence([unknown, get(3_504.999, 3_510, 429)], { incidents })
    alarm('I2', [unknown, get(3_505, 3_510, 429)], { incidents })
  }
})

test("I2: the store's record tells whether such a request was granted", () => {
  const operations = [get(0, 5, 0), get(3_000, 3_005, 429)]
  const incidents = [incident(2, 4, { orphans: true })]
  alarm('I2', operations, { stamps: [], incidents })
  alarm('I2', operations, { stamps: [stamp(2_000)], incidents })
  silence(operations, { stamps: [stamp(2_000.001)], incidents })
})

test('I3: a failed request does not spend the second', () => {
  alarm('I3', [get(0, 5, 502, listFailed), get(10, 15, 429)])
  silence([get(0, 5, 502, listFailed), get(10, 15, 200), get(20, 25, 429)])
})

test('I5: a client that waits one second is not refused', () => {
  alarm('I5', [get(0, 1, 200), get(500, 505, 429), get(1_505, 1_510, 429)])
  silence([get(0, 1, 200), get(500, 505, 429), get(1_100, 1_105, 200), get(1_505, 1_510, 429)])
})

test('I11: a failure needs a fault', () => {
  for (const failed of [get(10, 15, 502, listFailed), get(10, 15, 0)]) {
    alarm('I11', [failed], { incidents: [] })
    silence([failed], { incidents: [incident(14.999, 20)] })
    alarm('I11', [failed], { incidents: [incident(15, 20)] })
    silence([failed], { incidents: [incident(0, 10.001)] })
    alarm('I11', [failed], { incidents: [incident(0, 10)] })
  }
})

test('I11: a fault explains failures until the end of its aftermath', () => {
  const failed = get(510, 515, 502, authenticationFailed)
  silence([failed], { incidents: [incident(0, 10, { aftermath: 500_001 })] })
  alarm('I11', [failed], { incidents: [incident(0, 10, { aftermath: 500_000 })] })
})

test('I11: a fault explains only failures of the requests that it touches', () => {
  const failed = get(10, 15, 502, authenticationFailed)
  for (const touched of [{ key: 'k' }, { owner: 'ada' }, { process: 1 }])
    silence([failed], { incidents: [incident(0, 20, touched)] })
  for (const others of [{ key: 'other' }, { owner: 'eve' }, { process: 2 }])
    alarm('I11', [failed], { incidents: [incident(0, 20, others)] })
})

test('I11: a fault explains only the failures that it can cause', () => {
  const incidents = [incident(0, 20, { failures: ['list'] })]
  silence([get(10, 15, 502, listFailed)], { incidents })
  alarm('I11', [get(10, 15, 502, authenticationFailed)], { incidents })
  alarm('I11', [get(10, 15, 0)], { incidents })
})

test('I11: a health request without an answer needs a fault', () => {
  const health = { ...get(10, 15, 0), operation: 'health', key: '', owner: '' } as const
  alarm('I11', [health], { incidents: [incident(0, 20, { key: 'k' })] })
  silence([health], { incidents: [incident(0, 20, { process: 1 })] })
})

/**
 * A fault that lasts from the first second to the thirtieth, and a key that was last used before
 * it, at 900 ms.
 */
function beside(asked: readonly Operation[], rest: Partial<Incident> = {}) {
  const staying = incident(1_000, 30_000, { key: 'other', stays: true, ...rest })
  return [[get(900, 905, 200), ...asked], { incidents: [staying] }] as const
}

test('I12: beside a lasting fault, a key waits at most half a second longer than its second', () => {
  alarm('I12', ...beside([get(2_000, 2_500.001, 200)]))
  silence(...beside([get(2_000, 2_500, 200)]))
  // The client asked before the second was over.
  silence(...beside([get(1_999.999, 2_600, 200)]))
})

test('I12: a key may wait if the fault touches it, it was revoked, or no client asked with it', () => {
  const slow = [get(2_000, 4_000, 200)]
  alarm('I12', ...beside(slow))
  silence(...beside(slow, { key: 'k' }))
  silence(...beside(slow, { key: '', owner: 'ada' }))
  silence(...beside(slow, { key: '', process: 1 }))
  silence(...beside(slow, { stays: false }))
  silence(...beside([get(4_000, 4_010, 200)]))
  silence(...beside([revoke(1_500, 1_505), get(2_000, 4_010, 401)]))
})

test('I12: a fault that can make nothing fail touches nothing', () => {
  alarm('I12', ...beside([get(2_000, 4_000, 200)], { key: '', failures: [] }))
})

test('I12: another fault at the same time explains a longer wait', () => {
  const [operations, { incidents }] = beside([get(2_000, 4_000, 200)])
  silence(operations, { incidents: [...incidents, incident(2_000, 2_005)] })
})
