import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { check, describe, excerpt } from './check.ts'
import { RETURN_MAX } from './check-liveness.ts'
import { type Random, randomFrom } from './random.ts'
import { type History, now, writeHistory } from './record.ts'
import { type Operator, type Scene, setScene } from './scene.ts'
import type { StoreRecord } from './sqlite-record.ts'
import { startTraffic } from './traffic.ts'
import { tell } from './violation.ts'

/** Something that goes wrong. When it returns, it is over and everything runs. */
export type Fault = (random: Random, scene: Scene) => Promise<void>

/** What a nemesis is let loose on. */
export interface Battlefield {
  engine: string
  operator: Operator
  port(random: Random): number | null
  /** The faults of one group come one after the other, those of different groups at the same time. */
  groups: readonly Readonly<Record<string, Fault>>[]
  readRecord(scene: Scene): Promise<StoreRecord>
}

export interface Report {
  /** What happened, in figures. */
  summary: string
  /** Null where nothing contradicts the promises; else what does, and all that is needed to follow it. */
  violation: string | null
}

/** The longest pause of a busy client, in milliseconds. */
const PAUSE_MS = 70
/** After the last fault: every client has to be served again within `RETURN_MAX`, and is asked for longer than that. */
const CALM_MS = RETURN_MAX / 1_000 + 500

/** Traffic on the battlefield and faults drawn from the seed, for so many milliseconds, and what the checker finds. */
export async function runNemesis(
  { engine, operator, port, groups, readRecord }: Battlefield,
  seed: number,
  ms: number,
): Promise<Report> {
  const random = randomFrom(seed)
  const scene = await setScene(operator)
  const traffic = await startTraffic(scene, { port, random, pauseMs: PAUSE_MS })
  const counts = new Map<string, number>()
  const end = performance.now() + ms - CALM_MS
  await Promise.all(
    groups.map(async (faults) => {
      const own = random.branch()
      while (performance.now() < end) {
        await delay(own.between(50, 800))
        const name = own.pick(Object.keys(faults))
        counts.set(name, (counts.get(name) ?? 0) + 1)
        await faults[name]!(own, scene)
      }
    }),
  )
  const calmFrom = now()
  await delay(CALM_MS)
  await traffic.stop()
  const history = { ...(await readRecord(scene)), operations: scene.operations, calmFrom }
  return report(engine, seed, history, counts)
}

function report(
  engine: string,
  seed: number,
  history: History,
  faults: ReadonlyMap<string, number>,
): Report {
  const found = check(history)
  const { operations, stamps } = history
  const statuses = countBy(
    operations.filter(({ operation }) => operation === 'get'),
    ({ status }) => (status === 0 ? 'no answer' : String(status)),
  )
  const works = countBy(
    operations.filter(({ operation }) => operation !== 'get'),
    ({ operation }) => operation,
  )
  const summary = [
    `${engine}, seed ${seed}: ${operations.length} operations, ${sum(faults)} faults, ${stamps?.length} stamps,` +
      ` violations: ${found === null ? 0 : 'at least 1'}`,
    `  requests: ${list(statuses)}`,
    `  beside them: ${list(works)}`,
    `  faults: ${list(faults)}`,
  ].join('\n')
  if (found === null) return { summary, violation: null }
  const path = join(tmpdir(), `history-${engine}-${seed}-${process.pid}.jsonl`)
  writeHistory(path, history)
  const near = excerpt(history, found).map((operation) => `  ${tell(operation)}`)
  return {
    summary,
    violation: [describe(found), `seed ${seed}; around it:`, ...near, `all of it: ${path}`].join(
      '\n',
    ),
  }
}

function countBy<T>(items: readonly T[], name: (item: T) => string): Map<string, number> {
  return new Map([...Map.groupBy(items, name)].map(([word, all]) => [word, all.length]))
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0)
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([word, count]) => `${count} ${word}`)
    .join(', ')
}
