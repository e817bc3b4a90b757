import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { addAdaWithKey } from '../../../cli/ada.ts'
import { commandsIn } from '../../../cli/command.ts'

/*
 * What a command has acknowledged is on the disk: each new file and its name in the folder. The
 * file system of a test keeps a name without a sync, so the test reads the system calls.
 */

const PROGRAM = fileURLToPath(new URL('../../../../bin/server-listing.js', import.meta.url))
const CALLS = 'openat,write,pwrite64,fsync,fdatasync,rename'

/** Returns the calls of a command on files of these names, in order: of an open, its mode. */
function callsOf(
  databasePath: string,
  args: readonly string[],
  isMeant: (path: string) => boolean,
  input = '',
): string[] {
  const trace = join(dirname(databasePath), 'trace')
  // Node.js would have the kernel do some calls through a ring, which strace does not show.
  const env = { ...process.env, DATABASE_URL: `sqlite:${databasePath}`, UV_USE_IO_URING: '0' }
  const strace = ['-f', '-y', '-e', `trace=${CALLS}`, '-o', trace]
  execFileSync('strace', [...strace, process.execPath, PROGRAM, ...args], {
    env,
    input,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const calls = readFileSync(trace, 'latin1').matchAll(
    /^\d+ +(\w+)\((?:\d+<([^>]+)>|"[^"]+", "([^"]+)"|[^"]+"([^"]+)", (O_\w+))/gm,
  )
  return Array.from(calls, ([, call, opened, to, path, mode]) => ({
    call: mode ?? call,
    path: opened ?? to ?? path!,
  }))
    .filter(({ path }) => isMeant(path))
    .map(({ call, path }) => `${call} ${path}`)
}

test('a backup is on the disk before it gets its name, and then its name is', async (t) => {
  const commands = commandsIn(t)
  await addAdaWithKey(commands)
  const target = join(commands.folder, 'backup')
  const isMeant = (path: string) => path.startsWith(target) || path === commands.folder
  const calls = callsOf(commands.databasePath, ['backup', target], isMeant)
  // The check of the archive opens it, too.
  const [check, open, ...rest] = calls.slice(
    calls.findLastIndex((call) => /^p?write/.test(call)) + 1,
  )
  const partial = open!.slice('O_WRONLY '.length)
  assert.match(partial, /backup\.partial-[\da-f-]+$/)
  const { folder } = commands
  const ends = [`fsync ${partial}`, `rename ${target}`, `O_RDONLY ${folder}`, `fsync ${folder}`]
  assert.deepEqual([check, open, ...rest], [`O_RDWR ${partial}`, `O_WRONLY ${partial}`, ...ends])
})

test('a revocation is in the journal on the disk, and so is the name of the journal', async (t) => {
  const commands = commandsIn(t)
  const { key } = await addAdaWithKey(commands)
  const journal = `${commands.databasePath}-revoked`
  const folder = dirname(commands.databasePath)
  const args = ['key', 'revoke', '--key-stdin']
  const calls = callsOf(
    commands.databasePath,
    args,
    (path) => path === journal || path === folder,
    key,
  )
  // SQLite has synchronized the folder before, when it made the log.
  const after = calls.slice(calls.indexOf(`write ${journal}`) + 1)
  assert.deepEqual(after, [`fdatasync ${journal}`, `O_RDONLY ${folder}`, `fsync ${folder}`])
})
