import { test } from 'node:test'
import { alarm, get, silence, stamp, step } from '../record/hand-written.ts'
import type { Stamp } from '../record/record.ts'

/*
 * What a step of a clock excuses, to the microsecond. It excuses nothing else.
 */

const listFailed = { body: 'Failed to load servers.' }

test('a step of the deciding clock moves the second of earlier stamps', () => {
  const stamps = [stamp(3)]
  // The key was used five seconds ago, but half a second ago by this clock, which refuses it for
  // another half.
  const operations = [get(0, 5, 200), step(4_000, 4_010, -4.5)]
  silence([...operations, get(5_502.999, 5_505, 429)], { stamps })
  alarm('I2', [...operations, get(5_503, 5_505, 429)], { stamps })
  // By then the stamp lay in the future, so the store would have clamped it.
  alarm('I2', [...operations, get(4_400, 4_502.999, 429)], { stamps })
  silence([...operations, get(4_400, 4_503.001, 429)], { stamps })
  alarm('I2', [get(0, 5, 200), step(4_000, 4_010, 4.5), get(5_400, 5_405, 429)], { stamps })
  // A clock that decides nothing is no excuse.
  alarm('I2', [get(0, 5, 200), step(4_000, 4_010, -4.5, 'shown step'), get(5_400, 5_405, 429)], {
    stamps,
  })
})

test('a step during a request or at a stamp may count as before or after it', () => {
  const stamps = [stamp(3)]
  const used = get(0, 5, 200)
  silence([used, step(5_400, 5_410, -4.5), get(5_390, 5_420, 429)], { stamps })
  alarm('I2', [used, step(5_420, 5_430, -4.5), get(5_390, 5_420, 429)], { stamps })
  const wide = [stamp(3, { low: 2_000, high: 4_000 })]
  silence([used, step(3.5, 4.5, -4.5), get(5_400, 5_405, 429)], { stamps: wide })
  silence([used, step(3.5, 4.5, -4.5), get(500, 505, 429)], { stamps: wide })
  alarm('I2', [used, step(1, 1.9, -4.5), get(5_400, 5_405, 429)], { stamps: wide })
})

test('a stamp reset to the present is no granted claim, and limits its key for one second', () => {
  const operations = [get(0, 5, 200), step(100, 110, -4), get(1_200, 1_205, 429)]
  const clamp = stamp(1_203, { kind: 'clamp', claimed_at: -2_797_000 })
  const stamps = [stamp(3), clamp]
  silence([...operations, get(2_202.999, 2_210, 429)], { stamps })
  alarm('I5', [...operations, get(2_206, 2_210, 429)], { stamps })
  // A claim comes a second after a clamp, as after any stamp. Only a clock that was set back
  // explains a clamp.
  const again = [get(2_200, 2_210, 200)]
  const used = (at: number) => [...stamps, stamp(at, { claimed_at: at * 1_000 - 4_000_000 })]
  silence([...operations, ...again], { stamps: used(2_203) })
  alarm('I7', [...operations, ...again], { stamps: used(2_202.999) })
  alarm('I6', [get(0, 5, 200), get(1_200, 1_205, 429)], { stamps })
})

test('last_used_at goes back by at most the step of the clock', () => {
  const operations = [get(0, 5, 200), get(1_010, 1_015, 200)]
  for (const what of ['step', 'shown step'] as const) {
    silence([...operations, step(500, 505, -2, what)], { stamps: back(2_000_000) })
    alarm('I6', [...operations, step(500, 505, -2, what)], { stamps: back(2_000_001) })
    alarm('I6', [...operations, step(500, 505, 2, what)], { stamps: back(1) })
    const both = [step(400, 405, 5, what), step(500, 505, -2, what)]
    silence([...operations, ...both], { stamps: back(2_000_000) })
    alarm('I6', [...operations, step(1_012, 1_020, -2, what)], { stamps: back(1) })
  }
})

test('a step of the deciding clock does not excuse two granted claims within one second', () => {
  const operations = [get(0, 600, 200), step(700, 710, -4), get(10, 1_600, 200)]
  alarm('I7', operations, { stamps: [stamp(500), stamp(1_499.999)] })
  alarm('I1', [get(0, 5, 200), step(100, 110, 2), get(900, 905, 200)])
})

test('I9: a key has one second more after a step that is not made up for yet', () => {
  const asked = [get(0, 5, 502, listFailed), get(3_490, 3_500, 200)]
  silence([step(-2_910, -2_900, -2), ...asked], { calmFrom: 0 })
  silence([step(-2_910, -2_900, -2), ...asked], { calmFrom: 0 })
  const late = [get(0, 5, 502, listFailed), get(3_490, 3_500.001, 200)]
  alarm('I9', [step(-2_910, -2_900, -2), ...late], { calmFrom: 0 })
  alarm('I9', [step(-3_010, -3_000, -2), ...asked], { calmFrom: 0 })
})

/** Two granted claims. The store shows the second one this many microseconds before the first. */
function back(by: number): Stamp[] {
  return [stamp(3), stamp(1_012, { claimed_at: 3_000 - by })]
}
