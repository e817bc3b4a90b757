import { median } from '../median.ts'
import { stolenColumn, type Timed } from '../stolen.ts'
import type { Round } from './round.ts'
import type { Shift } from './shift.ts'

/** A round without the sockets and one beside them, in this order or the other. */
export interface Pair extends Timed {
  isBesideFirst: boolean
  without: Round
  beside: Round
}

export const HEAD = [
  '                p50 of the round   p99 of each second, without and beside           CPU / request',
  'pair  first      without  beside   without                beside                   without  beside' +
    '  not 200   ended   stolen',
]

export function rowOf(number: number, pair: Pair): string {
  const { isBesideFirst, without, beside } = pair
  const rounds = [without, beside]
  return [
    String(number).padStart(4),
    (isBesideFirst ? '  beside ' : '  without').padEnd(9),
    ...rounds.map(({ p50 }) => median(p50).toFixed(2).padStart(9)),
    ...rounds.map(({ p99 }) => `  ${p99.map((one) => one.toFixed(2).padStart(7)).join('')}`),
    ...rounds.map(({ cpu }) => cpu.toFixed(0).padStart(9)),
    String(without.failed + beside.failed).padStart(9),
    String(without.ended + beside.ended).padStart(8),
    stolenColumn(pair),
  ].join('')
}

export function shiftRow(name: string, shift: Shift, digits: number): string {
  const { without, beside, ratio, from, to } = shift
  const values = [without, beside].map((value) => value.toFixed(digits).padStart(8)).join('')
  const chance = `95 % of other draws between ${from.toFixed(3)} and ${to.toFixed(3)}`
  return `  ${name.padEnd(24)}${values}   ratio ${ratio.toFixed(3)}, ${chance}`
}
