import { parseArgs } from 'node:util'
import { measureBefore } from './before/suite.ts'
import { measureGrowth } from './growth/suite.ts'
import { measureConnections } from './overload/connections.ts'
import { measureOverload } from './overload/suite.ts'
import { measurePeers } from './peers/suite.ts'
import { measurePostgres } from './postgres/suite.ts'
import { measureProcesses } from './processes/suite.ts'
import { openScene, type Scene } from './scene.ts'
import { measureSignIns } from './sign-ins/suite.ts'
import { measureSite } from './site/suite.ts'
import { measureSqlite } from './sqlite/suite.ts'
import { printResults, type Result } from './table.ts'

const USAGE = `Usage: npm run bench -- [sqlite|postgres|processes|overload|connections|growth|site|sign-ins|peers|before] [--quick] [--tree FOLDER]

Measures the service and says whether it meets the targets. Needs Linux and wrk.

  sqlite    the service and a bare node:http server that sends the same bytes (default)
  postgres  the service with and without batches, on a PostgreSQL server that the run starts
  processes 1, 2, 4 and 8 processes of the service that share a port and a PostgreSQL database
  overload  up to ten times the load that a slowed store can process, on each engine, and 2,000 connections
  connections 16 to 2,000 connections without a pause, on SQLite: the last part of overload
  growth    a file with 1,000,000 keys, and owners with 100,000 servers
  site      a site as in docs/site.md: the first load, the night and each statement
  sign-ins  claims beside 50 sign-ins per second by OpenID Connect, on SQLite
  peers     the service and the same API put together from libraries
  before    this tree and an older one, on each engine

  --tree   the older tree, such as a git worktree, with its own node_modules; for the suite 'before'
  --quick  a short run for a first impression, with fewer and mostly shorter rounds
  --help   print this text

Exit codes: 0 all targets met, 1 a target missed or the run failed, 2 invalid arguments.`

const FULL = {
  rounds: 9,
  seconds: 4,
  warmUpSeconds: 15,
  requests: 1_000_000,
}
const QUICK = {
  rounds: 3,
  seconds: 3,
  warmUpSeconds: 5,
  requests: 100_000,
}

/** The order inside a suite counts: later measurements build on the load of earlier ones. */
const SUITES: Record<string, (scene: Scene) => Promise<Result[]>> = {
  sqlite: measureSqlite,
  postgres: measurePostgres,
  processes: measureProcesses,
  overload: measureOverload,
  connections: measureConnections,
  growth: measureGrowth,
  site: measureSite,
  'sign-ins': measureSignIns,
  peers: measurePeers,
  before: measureBefore,
}

process.exitCode = await main()

async function main(): Promise<number> {
  const given = readArguments()
  if (typeof given === 'number') return given
  const scene = openScene(given.settings)
  // A kill by another signal or an exit leaves no child behind.
  process.on('exit', scene.children.endAll)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void scene.close().finally(() => process.exit(1)))
  try {
    const results = await given.measure(scene)
    return printResults(results) ? 0 : 1
  } finally {
    await scene.close()
  }
}

/** The suite and its settings, or the exit code if there is nothing to measure. */
function readArguments() {
  const options = {
    quick: { type: 'boolean' },
    tree: { type: 'string' },
    help: { type: 'boolean' },
  } as const
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    if (values.help) {
      console.log(USAGE)
      return 0
    }
    const name = positionals.join(' ') || 'sqlite'
    const measure = Object.hasOwn(SUITES, name) ? SUITES[name] : undefined
    if (measure === undefined)
      throw new Error(`unknown suite '${name}': take one of ${Object.keys(SUITES).join(', ')}`)
    if ((measure === measureBefore) !== (values.tree !== undefined))
      throw new Error(`--tree FOLDER goes with the suite 'before', and only with it`)
    const settings = { ...(values.quick ? QUICK : FULL), tree: values.tree ?? '' }
    return { measure, settings }
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`)
    return 2
  }
}
