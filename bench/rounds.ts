import { watchStolen } from './proc.ts'
import { openTable } from './table.ts'

/**
 * Largest share of stolen processor time in a calm round. With more, a latency tells more about
 * other machines than about the service.
 */
const STOLEN_MAX = 0.03

export interface Rounds<Round extends Readonly<Record<string, number>>> {
  title: string
  count: number
  /**
   * If given, a round with too much stolen time does not count, and up to `count * tries` rounds
   * run. If no round was calm, all count.
   */
  tries?: number
  /**
   * Measures everything that is compared, so that all meet the same machine. Returns the columns of
   * a row, and `stolen` if only a part of the round is sensitive to stolen time.
   */
  measure(number: number): Promise<Round>
}

/**
 * Measures round after round, and prints each as a row, then their medians. Returns the rounds that
 * count, the calmest first.
 */
export async function runRounds<Round extends Readonly<Record<string, number>>>(
  rounds: Rounds<Round>,
): Promise<readonly Round[]> {
  const { title, count, tries, measure } = rounds
  const printRow = openTable(title, 'round')
  const all: { round: Round; stolen: number }[] = []
  const calm = () => all.filter(({ stolen }) => tries === undefined || stolen <= STOLEN_MAX)
  for (let number = 1; calm().length < count && number <= count * (tries ?? 1); number += 1) {
    const readStolen = watchStolen()
    const round = await measure(number)
    const { stolen = readStolen(), ...columns } = round
    all.push({ round, stolen })
    const share = `${(stolen * 100).toFixed(1)} % stolen${stolen > STOLEN_MAX ? ', not calm' : ''}`
    printRow(String(number), columns, tries === undefined ? '' : `   ${share}`)
  }
  const counting = (calm().length > 0 ? calm() : all)
    .toSorted((a, b) => a.stolen - b.stolen)
    .map(({ round }) => round)
  printRow('median', mediansOf(counting))
  return counting
}

function mediansOf(rounds: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const columns = Object.keys(rounds[0] ?? {}).filter((name) => name !== 'stolen')
  return Object.fromEntries(columns.map((name) => [name, medianOf(rounds, name)]))
}

/** The median of a column. */
export function medianOf<Name extends string>(
  rounds: readonly Readonly<Record<Name, number>>[],
  name: Name,
): number {
  return median(rounds.map((round) => round[name]))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}
