import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { on, once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../../test/fixtures/folder.ts'
import { startCluster } from '../../test/fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../test/fixtures/postgres/database.ts'

/*
 * How long `apply`, `export` and `key import` take with the state of a site, and their largest
 * resident memory. `node bench/state/run.ts 50000` generates 50,000 users with 120,000 servers and
 * 60,000 keys. The longest transaction on PostgreSQL is sampled every 20 ms.
 */

const users = Number(process.argv[2] ?? 5_000)
const BIN = fileURLToPath(new URL('../../bin/server-listing.js', import.meta.url))
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** Two or three servers for each user, and two keys for every fifth one. */
function site(): string {
  const records = Array.from({ length: users }, (_, user) => ({
    external_id: String(user),
    email: `user${user}@example.com`,
    keys: Array.from({ length: user % 5 === 0 ? 2 : 1 }, (_, key) => {
      return { name: 'bot', prefix: 'svc_live_0123456', key_hash: hashOf(`${user}-${key}`) }
    }),
    servers: Array.from({ length: user % 5 < 2 ? 3 : 2 }, (_, server) => ({
      name: `Emerald Hollow ${user}`,
      slug: `emerald-${server}`,
      address: `emerald-${user}-${server}.example.net:25565`,
      version: '1.21.4',
      listing_kind: 'server',
    })),
  }))
  return JSON.stringify({ format_version: 1, users: records }, null, 2)
}

/** A third key for each user. */
function keyTable(): string {
  const rows = Array.from({ length: users }, (_, user) => `${user},other,${hashOf(`${user}-x`)}`)
  return `external_id,name,key_hash\n${rows.join('\n')}\n`
}

const PRINT_MEMORY = `import { writeSync } from 'node:fs'
  process.on('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
    writeSync(3, JSON.stringify([maxRSS / 1024, (userCPUTime + systemCPUTime) / 1e6]))
  })`

const cleanUps: (() => unknown)[] = []
const cluster = await startCluster()
const folder = temporaryFolder({ after: (cleanUp) => cleanUps.push(cleanUp as () => unknown) })
const fileIn = (name: string) => join(folder, name)

try {
  writeFileSync(fileIn('site.json'), site())
  writeFileSync(fileIn('keys.csv'), keyTable())
  const sqlite = (name: string) => `sqlite:${fileIn(name)}`
  await measureOn('SQLite, empty', sqlite('empty.db'))
  await measureOn('SQLite, served', sqlite('served.db'), true)
  await measureOn('PostgreSQL, empty', await createDatabase(cluster))
  await measureOn('PostgreSQL, served', await createDatabase(cluster), true)
} finally {
  await cluster.remove()
  for (const cleanUp of cleanUps) cleanUp()
}

async function measureOn(name: string, url: string, isServed = false): Promise<void> {
  await run(url, ['migrate'])
  const service = isServed ? await serve(url) : null
  try {
    const apply = ['apply', fileIn('site.json'), '--yes']
    for (const [act, args] of [
      ['apply', apply],
      ['second apply', apply],
      ['export', ['export']],
      ['key import', ['key', 'import', '--hash-file', fileIn('keys.csv')]],
    ] as const) {
      const longest = watchTransactions(url)
      const startedAt = performance.now()
      const { megabytes, cpu, said } = await run(
        url,
        args,
        act === 'export' ? fileIn('export.json') : '/dev/null',
      )
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
      console.log(
        `${name}: ${act}: ${seconds} s (${cpu} s of its CPU), ${megabytes} MB${await longest()}: ${said}`,
      )
    }
  } finally {
    service?.kill('SIGTERM')
    if (service !== null) await once(service, 'close')
  }
}

/** The environment of the program. */
function environmentFor(url: string): NodeJS.ProcessEnv {
  return { DATABASE_URL: url, PORT: '0', DASHBOARD_PORT: '0', OPS_PORT: '0' }
}

async function run(url: string, args: readonly string[], stdout = '/dev/null') {
  const [out, error] = [openSync(stdout, 'w'), openSync(fileIn('stderr'), 'w')]
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(PRINT_MEMORY)}`]
  const child = spawn(process.execPath, [...preload, BIN, ...args], {
    env: environmentFor(url),
    stdio: ['ignore', out, error, 'pipe'],
  })
  let printed = ''
  child.stdio[3]!.on('data', (chunk: Buffer) => (printed += String(chunk)))
  const [code] = await once(child, 'close')
  closeSync(out)
  closeSync(error)
  const lines = readFileSync(fileIn('stderr'), 'utf8').trimEnd().split('\n')
  if (code !== 0) throw new Error(`${args.join(' ')} failed: ${lines.at(-1)}`)
  const said = lines.at(-1)!.startsWith('database:') ? lines.at(-2)! : lines.at(-1)!
  const [megabytes, cpu] = (JSON.parse(printed) as number[]).map(Math.round)
  return { megabytes, cpu, said }
}

async function serve(url: string) {
  const child = spawn(process.execPath, [BIN, 'serve'], {
    env: environmentFor(url),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const [chunk] of on(child.stdout, 'data'))
    if (String(chunk).includes('listening on')) break
  child.stdout.resume()
  return child
}

/** The longest transaction of another session in this database, until the function is called. */
function watchTransactions(url: string): () => Promise<string> {
  if (!url.startsWith('postgres:')) return async () => ''
  const state = { isDone: false }
  const longest = { transaction: 0, idle: 0 }
  const watching = asAdmin(url, async (admin) => {
    while (!state.isDone) {
      const { rows } = await admin.query<Record<'transaction' | 'idle', number | null>>(`
        SELECT max(extract(epoch FROM clock_timestamp() - xact_start))::float8 AS transaction,
          max(extract(epoch FROM clock_timestamp() - state_change))
            FILTER (WHERE state LIKE 'idle in%')::float8 AS idle
        FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND backend_type = 'client backend'`)
      for (const kind of ['transaction', 'idle'] as const)
        longest[kind] = Math.max(longest[kind], rows[0]![kind] ?? 0)
      await delay(20)
    }
  })
  return async () => {
    state.isDone = true
    await watching
    const [whole, idle] = [longest.transaction, longest.idle].map((one) => one.toFixed(2))
    return `, longest transaction ${whole} s, idle in one ${idle} s`
  }
}
