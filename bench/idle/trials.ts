import { type Bench, openBench } from '../bench.ts'
import type { Children } from '../children.ts'
import { median } from '../median.ts'
import { calmOf, isCalm } from '../stolen.ts'
import type { Suite } from '../trials.ts'
import { measureRound, RATE, type Round } from './round.ts'
import { shiftOf, type Two } from './shift.ts'
import { HEAD, type Pair, rowOf, shiftRow } from './table.ts'

const SOCKETS = 2_000
/** So many times as many pairs as are wanted, at most, to get as many calm ones. */
const PATIENCE = 2

export interface Scene extends Bench {
  children: Children
  /** What was seen so far. */
  pairs: Pair[]
}

export const IDLE: Suite<Scene> = {
  async open(children, ...rest) {
    return { ...(await openBench(children, ...rest)), children, pairs: [] }
  },
  trials: [
    {
      description: 'p99 of good traffic, beside 2,000 idle or trickling sockets / without',
      target: { atMost: 1.2, unit: '' },
      measure: measureShift,
    },
    {
      description: 'requests of the good traffic that were not answered 200',
      target: { atMost: 0, unit: '' },
      measure: async ({ pairs }) => sum(pairs, ({ failed }) => failed),
    },
    {
      description: 'idle or trickling sockets that were ended before their round was over',
      target: { atMost: 0, unit: '' },
      measure: async ({ pairs }) => sum(pairs, ({ ended }) => ended),
    },
  ],
}

/**
 * Many short pairs of rounds, of which every other begins with the sockets: what the machine does then meets both
 * alike. What counts is the median of the p99 of all seconds of either kind in calm pairs: a moment in which the machine
 * stood still spoils one second and no more.
 */
async function measureShift(scene: Scene): Promise<number> {
  const { settings, service, pairs, print } = scene
  // In these the service is still being compiled.
  await scene.askAtOnce(service, settings.seconds)
  await measurePair(scene, false)

  print(`good traffic at ${RATE} requests a second, without ${SOCKETS} sockets and beside them; in`)
  print('ms from the moment each request was due, and CPU time of the service in µs')
  for (const line of HEAD) print(line)
  // Even, so that each order comes as often as the other.
  const count = 2 * settings.rounds
  let calm = 0
  for (let number = 1; calm < count && number <= count * PATIENCE; number += 1) {
    const pair = await measurePair(scene, calm % 2 === 1)
    pairs.push(pair)
    print(rowOf(number, pair))
    if (isCalm(pair)) calm += 1
  }

  const counted = calmOf(pairs)
  const shifts = STATISTICS.map(({ two, statistic }) => shiftOf(counted.map(two), statistic))
  for (const [place, { name, digits }] of STATISTICS.entries())
    print(shiftRow(name, shifts[place]!, digits))
  return shifts[0]!.ratio
}

interface Statistic {
  name: string
  two(pair: Pair): Two
  statistic(values: readonly number[]): number
  digits: number
}

/** The first is the one that counts. */
const STATISTICS: readonly Statistic[] = [
  { name: 'median p99', two: both(({ p99 }) => p99), statistic: median, digits: 2 },
  { name: 'p99 within each pair', two: within, statistic: median, digits: 2 },
  {
    name: 'lower quartile of p99',
    two: both(({ p99 }) => p99),
    statistic: lowerQuartile,
    digits: 2,
  },
  { name: 'median p50', two: both(({ p50 }) => p50), statistic: median, digits: 2 },
  { name: 'median CPU / request', two: both(({ cpu }) => [cpu]), statistic: median, digits: 0 },
]

function both(of: (round: Round) => number[]): (pair: Pair) => Two {
  return ({ without, beside }) => ({ without: of(without), beside: of(beside) })
}

/** Measured by its own round without the sockets, whatever the machine did by then. */
function within({ without, beside }: Pair): Two {
  return { without: [1], beside: [median(beside.p99) / median(without.p99)] }
}

async function measurePair(scene: Scene, isBesideFirst: boolean): Promise<Pair> {
  const measure = (sockets: number) => measureRound(scene, scene.children, sockets)
  const first = await measure(isBesideFirst ? SOCKETS : 0)
  const second = await measure(isBesideFirst ? 0 : SOCKETS)
  const [without, beside] = isBesideFirst ? [second, first] : [first, second]
  return { isBesideFirst, without, beside, stolen: Math.max(first.stolen, second.stolen) }
}

/** Of the seconds in which the machine was quiet. */
function lowerQuartile(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? Number.NaN
}

function sum(pairs: readonly Pair[], of: (round: Round) => number): number {
  return pairs.reduce((total, { without, beside }) => total + of(without) + of(beside), 0)
}
