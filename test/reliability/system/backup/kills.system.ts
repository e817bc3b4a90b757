import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { presentInstant } from '../../../../src/model/instant.ts'
import { backUpSqlite } from '../../../../src/archive/sqlite-backup.ts'
import { openServingSqliteStore } from '../../../../src/sqlite/serving-store.ts'
import { claim } from '../../../contract/keys/claim.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { addOwner, addUser } from '../../../fixtures/service.ts'
import { rowsOf } from '../../../archive/files.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'

/*
 * `backup` and `restore` are killed at system calls that change files, at places spread over all of
 * them. Afterwards there is the old state or the new one, and a revoked key is revoked.
 */

/** Spread over all calls, and the last ones, where the new state takes the place of the old one. */
const SPREAD = 10
const LAST = 5
const CALLS = 'pwrite64,fsync,fdatasync,ftruncate,rename,unlink'
const PROGRAM = fileURLToPath(new URL('../../../../bin/server-listing.js', import.meta.url))

test('a killed backup leaves the earlier backup or a whole new one', async (t) => {
  const origin = await originIn(t)
  const command = { args: ['backup', 'backup'], files: [] }
  const outcomes = await killEverywhere(t, origin, command, async (folder) => {
    const target = join(folder, 'backup')
    const { users, last_backup: made } = rowsOf(target)
    const { last_backup: recorded, audit_log: log, ...rows } = rowsOf(join(folder, 'listing.db'))
    const { last_backup: none, audit_log: before, ...expected } = rowsOf(join(origin, 'listing.db'))
    assert.deepEqual([rows, none], [expected, []])
    // The record of a backup and its entry are one transaction.
    assert.equal(log!.length, before!.length + recorded!.length)
    if (recorded!.length > 0) assert.deepEqual(recorded, made)
    // After an hour, the next backup removes what this one has left.
    for (const name of partialsIn(folder)) utimesSync(join(folder, name), 1, 1)
    await backUpSqlite(join(folder, 'listing.db'), target)
    assert.deepEqual(partialsIn(folder), [])
    return users!.length === 1 ? 'earlier' : 'new'
  })
  assert.deepEqual(new Set(outcomes), new Set(['earlier', 'new']))
})

test('a killed restore leaves the replaced database or the whole backup, and no revoked key works', async (t) => {
  const origin = await originIn(t)
  const key = readFileSync(join(origin, 'key'), 'utf8')
  const command = {
    args: ['restore', '--yes', 'backup'],
    files: ['listing.db', 'listing.db-wal'],
  }
  const outcomes = await killEverywhere(t, origin, command, async (folder) => {
    const store = await openServingSqliteStore(join(folder, 'listing.db'))
    const { outcome } = await claim(store, key)
    const users = await recordsOf(store).listUserRecords()
    await store.close()
    assert.equal(outcome, 'revoked')
    return users.length === 1 ? 'backup' : 'replaced'
  })
  assert.deepEqual(new Set(outcomes), new Set(['replaced', 'backup']))
})

/** A folder with a database, and a backup of it with one user less and a key that worked. */
async function originIn(t: TestContext): Promise<string> {
  const folder = join(temporaryFolder(t), 'origin')
  mkdirSync(folder)
  const path = join(folder, 'listing.db')
  const store = await openServingSqliteStore(path)
  const { key, keyId, user } = await addOwner(store, 'ada@example.com')
  await backUpSqlite(path, join(folder, 'backup'))
  await recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(presentInstant()))
  await addUser(store, 'bob@example.com')
  await store.close()
  execFileSync('tee', [join(folder, 'key')], { input: key, stdio: ['pipe', 'ignore', 'inherit'] })
  return folder
}

/**
 * Runs the command in copies of the folder, killed at one call each, and looks at each copy. Counts
 * only calls on these files, or on all if there is none.
 */
async function killEverywhere(
  t: TestContext,
  origin: string,
  { args, files }: { args: readonly string[]; files: readonly string[] },
  look: (folder: string) => Promise<string>,
): Promise<string[]> {
  const calls = callsOf(copyOf(t, origin), args, files)
  assert.ok(calls.length > SPREAD + LAST, calls.join())
  const spread = Array.from({ length: SPREAD }, (_, n) => Math.floor((calls.length * n) / SPREAD))
  const places = [...spread.map((index) => calls[index]!), ...calls.slice(-LAST)]
  const outcomes: string[] = []
  for (const call of places) {
    const folder = copyOf(t, origin)
    const { signal, stderr } = run(folder, args, files, ['-e', `inject=${call}`])
    assert.equal(signal, 'SIGKILL', `${call}: ${stderr}`)
    outcomes.push(await look(folder))
  }
  t.diagnostic(`kills at ${places.length} of ${calls.length} calls: ${outcomes.join(', ')}`)
  return outcomes
}

function copyOf(t: TestContext, origin: string): string {
  const folder = join(temporaryFolder(t), basename(origin))
  cpSync(origin, folder, { recursive: true })
  return folder
}

/**
 * The calls of the command in order, when nothing kills it, as strace's expressions for a kill
 * there. strace counts each call by thread, and the first thread that reaches a number is killed.
 */
function callsOf(folder: string, args: readonly string[], files: readonly string[]): string[] {
  const trace = join(folder, 'trace')
  const { status, stderr } = run(folder, args, files, [`--output=${trace}`])
  assert.equal(status, 0, stderr)
  const counts = new Map<string, number>()
  const found = new Set<string>()
  for (const [, counted, call] of readFileSync(trace, 'latin1').matchAll(/^(\d+ +(\w+))\(/gm)) {
    const when = (counts.get(counted!) ?? 0) + 1
    counts.set(counted!, when)
    found.add(`${call}:signal=KILL:when=${when}`)
  }
  return [...found]
}

/** With one thread in the pool, the calls come in the same order each time. */
function run(
  folder: string,
  args: readonly string[],
  files: readonly string[],
  more: readonly string[],
) {
  const only = files.flatMap((name) => ['-P', join(folder, name)])
  const strace = ['--follow-forks', '-e', `trace=${CALLS}`, ...only, ...more]
  return spawnSync('strace', [...strace, process.execPath, PROGRAM, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: `sqlite:${join(folder, 'listing.db')}`,
      UV_THREADPOOL_SIZE: '1',
      NODE_DISABLE_COMPILE_CACHE: '1',
    },
  })
}

function partialsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.includes('.partial-'))
}
