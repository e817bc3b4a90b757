import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Settings } from './bench.ts'
import { type Children, createChildren } from './children.ts'
import { IDLE } from './idle/trials.ts'
import { OVERLOAD } from './overload/trials.ts'
import { POSTGRES } from './postgres/trials.ts'
import { isMet, SQLITE, type Suite, type Target } from './trials.ts'

const USAGE = `Usage: npm run bench -- [sqlite|postgres|overload|idle] [--quick]

Measures the service and says whether the targets are met. Needs Linux; wrk is used where it is installed.

  sqlite    against a bare node:http server that sends the same bytes (default)
  postgres  against the same service with batches of one, on a PostgreSQL server of its own
  overload  with up to ten times the load that a slowed store bears, on each engine, and with 2,000 connections
  idle      beside 2,000 sockets that are silent or send a head byte by byte, and without them

  --quick  a shorter run, for a first impression: fewer and shorter rounds
  --help   this text

Exit codes: 0 all targets met, 1 a target missed or the run failed, 2 misused.`

const FULL: Settings = { rounds: 9, seconds: 4, warmUpSeconds: 15, requests: 1_000_000 }
const QUICK: Settings = { rounds: 3, seconds: 3, warmUpSeconds: 5, requests: 100_000 }

const SUITES = ['sqlite', 'postgres', 'overload', 'idle'] as const
type SuiteName = (typeof SUITES)[number]

process.exitCode = await main()

async function main(): Promise<number> {
  const given = readArguments()
  if (given === null) {
    console.error(USAGE)
    return 2
  }
  if (given.help) {
    console.log(USAGE)
    return 0
  }

  const children = createChildren()
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-bench-'))
  process.on('exit', () => {
    children.endAll()
    rmSync(folder, { recursive: true, force: true })
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(1))

  const settings = given.quick ? QUICK : FULL
  const areAllMet = await runNamed(given.suite, children, folder, settings)
  children.endAll()
  return areAllMet ? 0 : 1
}

function runNamed(
  name: SuiteName,
  ...rest: [Children, folder: string, Settings]
): Promise<boolean> {
  if (name === 'postgres') return runSuite(POSTGRES, ...rest)
  if (name === 'overload') return runSuite(OVERLOAD, ...rest)
  if (name === 'idle') return runSuite(IDLE, ...rest)
  return runSuite(SQLITE, ...rest)
}

async function runSuite<Scene extends { close(): Promise<void> }>(
  suite: Suite<Scene>,
  children: Children,
  folder: string,
  settings: Settings,
): Promise<boolean> {
  const scene = await suite.open(children, folder, settings, console.log)
  const rows: string[] = []
  let areAllMet = true
  try {
    for (const { description, target, measure } of suite.trials) {
      const value = await measure(scene)
      const met = isMet(value, target)
      areAllMet &&= met
      rows.push(row(description, show(value, target.unit), showTarget(target), met ? 'yes' : 'NO'))
    }
  } finally {
    await scene.close()
  }
  console.log(['', row('', 'measured', 'target', 'met'), ...rows].join('\n'))
  return areAllMet
}

interface Arguments {
  suite: SuiteName
  quick: boolean
  help: boolean
}

function readArguments(): Arguments | null {
  const options = { quick: { type: 'boolean' }, help: { type: 'boolean' } } as const
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    const { quick = false, help = false } = values
    const [name = 'sqlite', ...rest] = positionals
    const suite = SUITES.find((one) => one === name)
    if (suite === undefined || rest.length > 0)
      throw new Error(`there is no benchmark called '${positionals.join(' ')}'`)
    return { suite, quick, help }
  } catch (error) {
    console.error((error as Error).message)
    return null
  }
}

function row(description: string, value: string, target: string, met: string): string {
  return `${description.padEnd(68)}${value.padStart(12)}${target.padStart(13)}  ${met}`
}

function show(value: number, unit: string): string {
  return `${value.toFixed(unit === '' ? 3 : 1)}${unit}`
}

function showTarget(target: Target): string {
  if ('atLeast' in target) return `≥ ${target.atLeast}${target.unit}`
  if ('atMost' in target) return `≤ ${target.atMost}${target.unit}`
  return `< ${target.below}${target.unit}`
}
