import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type EndedHere, runHere, setDatabase } from '../../../cli/here.ts'
import { PASSWORD } from '../../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { type Entry, NEW } from './audited.ts'
import { type Operation, sweep } from '../sweep.ts'
import type { Tables } from '../tables.ts'
import type { Disturbance, Trap } from '../trap.ts'

/** A database, as the commands get it. */
export interface CommandScene {
  url: string
  tables(): Promise<Tables>
}

/** The user of `fill`. */
export const ADA = 'ada@example.com'
const SERVERS = JSON.stringify(
  ['one', 'two', 'three'].map((slug) => ({ name: slug, address: `${slug}.example.com`, slug })),
)

/**
 * All commands that work on a store, run in this process, with a fault at each database call in
 * turn.
 */
export function disturbedCommands<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('commands: a failed one says so and has done all of its work or none', async (t) => {
    const { url, tables: openTables } = await open(t)
    setDatabase(t, url)
    const { userId, keyId, key, file } = await fill(t)
    const by = (action: string, subject: string): Entry => [userId, action, subject]
    const added: Entry = [NEW, 'user added', 'new@example.com']
    const tables = await openTables()
    t.after(tables.close)
    await tables.remember()
    const operations = [
      command('user list'),
      command('user add new@example.com', { repeated: /already exists/, audited: [added] }),
      command('user add new@example.com --password-stdin', {
        stdin: PASSWORD,
        repeated: /already exists/,
        audited: [added],
      }),
      command(`user password ${ADA}`, { stdin: PASSWORD, audited: [by('password changed', ADA)] }),
      command(`user remove ${ADA} --yes`, {
        repeated: /there is no such user/,
        isBetween: isRevokedKey,
        audited: [by('user removed', ADA)],
      }),
      command(`key issue --user ${ADA} --name bot`, {
        isTwiceIfRepeated: true,
        audited: [by('key issued', NEW)],
      }),
      command(`key list --user ${ADA}`),
      command(`key revoke --user ${ADA} ${keyId}`, { audited: [by('key revoked', keyId)] }),
      command('key revoke --key-stdin', { stdin: key, audited: [by('key revoked', keyId)] }),
      command(`server import --user ${ADA} ${file}`),
      command(`server import --user ${ADA} --organization red-stone ${file}`, { isInParts: true }),
      command(`server list --user ${ADA} --json`),
      command('migrate'),
    ]
    for (const disturbance of disturbances) {
      const startedAt = performance.now()
      let calls = 0
      for (const [index, operation] of operations.entries()) {
        // All of them prepare the same statements, so that faults of preparing are tried with one
        // only.
        const leftOut = index === 0 ? [] : ['prepare']
        calls += await sweep({ ...operation, leftOut }, tables, trap, disturbance)
      }
      const took = Math.round(performance.now() - startedAt)
      t.diagnostic(`${operations.length} commands, ${calls} calls ${disturbance.name}: ${took} ms`)
    }
  })
}

/** The command that creates the schema: each migration is applied or not. */
export function disturbedMigration<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('migrate: repeated runs complete a migration that failed at any call', async (t) => {
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

/** A user with a key and servers, two of which the import changes. */
export async function fill(
  t: TestContext,
): Promise<{ userId: string; keyId: string; key: string; file: string }> {
  const folder = temporaryFolder(t)
  const [file, other] = [join(folder, 'servers.json'), join(folder, 'other.json')]
  writeFileSync(file, SERVERS)
  writeFileSync(other, SERVERS.replaceAll('three', 'four'))
  await done(`user add ${ADA} --create`)
  await done(`server import --user ${ADA} ${other}`)
  const key = (await done(`key issue --user ${ADA} --name first`)).trim()
  const [{ id: keyId, user_id: userId }] = JSON.parse(await done(`key list --user ${ADA} --json`))
  return { userId, keyId, key, file }
}

async function done(args: string): Promise<string> {
  const { code, stdout, stderr } = await runHere(args)
  assert.equal(code, 0, stderr)
  return stdout
}

/** Removing a user first revokes the keys. */
function isRevokedKey(table: string, row: string): boolean {
  return table === 'api_keys' && row.includes('"revoked_at":"(new)"')
}

interface CommandOptions
  extends Pick<Operation<EndedHere>, 'audited' | 'isBetween' | 'isTwiceIfRepeated'> {
  stdin?: string
  /** What a repetition may answer if the first run succeeded. */
  repeated?: RegExp
  isInParts?: boolean
}

export function command(
  args: string,
  { stdin = '', repeated, isInParts = false, ...rest }: CommandOptions = {},
): Operation<EndedHere> {
  return {
    name: args,
    audited: [],
    following: ['audit_log'],
    isInParts: isInParts || rest.isBetween !== undefined,
    ...rest,
    run: () => runHere(args, stdin),
    isDone: ({ code }) => code === 0,
    isRepetition: ({ stderr }) => repeated?.test(stderr) ?? false,
    assertHonest({ code, stdout, stderr }) {
      assert.deepEqual([code, stdout], [1, ''], args)
      assert.match(stderr, /^error: [^\n]+\n$/)
    },
  }
}
