import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { run } from '../../src/cli/run.ts'
import { PASSWORD } from '../fixtures/dashboard.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { type Operation, sweep } from './sweep.ts'
import type { Tables } from './tables.ts'
import type { Disturbance, Trap } from './trap.ts'

/** What a command has left behind. */
export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** A database, as the commands are told of it. */
export interface CommandScene {
  url: string
  tables(): Promise<Tables>
}

const ADA = 'ada@example.com'
const SERVERS = JSON.stringify(
  ['one', 'two', 'three'].map((slug) => ({ name: slug, address: `${slug}.example.com`, slug })),
)

/** Every command that works on a store, in this process, with each of its calls to the database disturbed in turn. */
export function disturbedCommands<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('commands: one that fails says so, and has done all of its work or none', async (t) => {
    const { url, tables: openTables } = await open(t)
    setDatabase(t, url)
    const { keyId, key, file } = await fill(t)
    const tables = await openTables()
    t.after(tables.close)
    await tables.remember()
    const operations = [
      command('user list'),
      command('user add new@example.com', { repeated: /there is a user/ }),
      command('user add new@example.com --password-stdin', {
        stdin: PASSWORD,
        repeated: /there is a user/,
      }),
      command(`user password ${ADA}`, { stdin: PASSWORD }),
      command(`user remove ${ADA}`, { repeated: /no such user/, isInParts: true }),
      command(`key issue --user ${ADA} --name bot`),
      command(`key list --user ${ADA}`),
      command(`key revoke --user ${ADA} ${keyId}`),
      command('key revoke --key-stdin', { stdin: key }),
      command(`server import --user ${ADA} ${file}`),
      command(`server import --user ${ADA} --organization red-stone ${file}`, { isInParts: true }),
      command(`server list --user ${ADA} --json`),
      command('migrate'),
    ]
    for (const disturbance of disturbances) {
      const startedAt = performance.now()
      let calls = 0
      for (const [index, operation] of operations.entries()) {
        // All of them prepare the same statements, so that one is enough to show what becomes of that.
        const leftOut = index === 0 ? [] : ['prepare']
        calls += await sweep({ ...operation, leftOut }, tables, trap, disturbance)
      }
      const took = Math.round(performance.now() - startedAt)
      t.diagnostic(`${operations.length} commands, ${calls} calls ${disturbance.name}: ${took} ms`)
    }
  })
}

/** The command that makes the schema: each migration is there or not. */
export function disturbedMigration<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('migrate: an empty database is brought up to date by whatever runs it takes', async (t) => {
    const { url, tables: openTables } = await open(t)
    setDatabase(t, url)
    const tables = await openTables()
    t.after(tables.close)
    const operation = { ...command('migrate', { isInParts: true }), leftOut: ['prepare'] }
    for (const disturbance of disturbances) {
      const calls = await sweep(operation, tables, trap, disturbance)
      t.diagnostic(`${calls} calls ${disturbance.name}`)
    }
  })
}

export function setDatabase(t: Pick<TestContext, 'after'>, url: string): void {
  const before = process.env.DATABASE_URL
  process.env.DATABASE_URL = url
  t.after(() => {
    if (before === undefined) delete process.env.DATABASE_URL
    else process.env.DATABASE_URL = before
  })
}

/** A user with a key and servers, two of which the import changes. */
export async function fill(t: TestContext): Promise<{ keyId: string; key: string; file: string }> {
  const folder = temporaryFolder(t)
  const [file, other] = [join(folder, 'servers.json'), join(folder, 'other.json')]
  writeFileSync(file, SERVERS)
  writeFileSync(other, SERVERS.replaceAll('three', 'four'))
  await done(`user add ${ADA}`)
  await done(`server import --user ${ADA} ${other}`)
  const key = (await done(`key issue --user ${ADA} --name first`)).trim()
  const [{ id: keyId }] = JSON.parse(await done(`key list --user ${ADA} --json`))
  return { keyId, key, file }
}

async function done(args: string): Promise<string> {
  const { code, stdout, stderr } = await runHere(args)
  assert.equal(code, 0, stderr)
  return stdout
}

interface CommandOptions {
  stdin?: string
  /** What a second time may say, once the first was done. */
  repeated?: RegExp
  isInParts?: boolean
}

export function command(
  args: string,
  { stdin = '', repeated, isInParts = false }: CommandOptions = {},
): Operation<Ended> {
  return {
    name: args,
    isInParts,
    run: () => runHere(args, stdin),
    isDone: ({ code }) => code === 0,
    isRepetition: ({ stderr }) => repeated?.test(stderr) ?? false,
    assertHonest({ code, stdout, stderr }) {
      assert.deepEqual([code, stdout], [1, ''], args)
      assert.match(stderr, /^error: [^\n]+\n$/)
    },
  }
}

/** Runs a command in this process, where the driver is, with its input and output caught. */
async function runHere(args: string, input = ''): Promise<Ended> {
  const { stdout, stderr, stdin } = process
  const caught = { stdout: '', stderr: '' }
  const writes = [stdout.write, stderr.write] as const
  for (const name of ['stdout', 'stderr'] as const) {
    const write = process[name].write as (...args: unknown[]) => boolean
    process[name].write = (...args: unknown[]) => {
      // What the test runner writes itself is bytes, and goes on its way.
      if (typeof args[0] !== 'string') return write.apply(process[name], args)
      caught[name] += args[0]
      return true
    }
  }
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true })
  try {
    return { code: await run(args.split(' ')), ...caught }
  } finally {
    ;[stdout.write, stderr.write] = writes
    Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
    for (const stream of [stdout, stderr]) stream.removeAllListeners('error')
  }
}
