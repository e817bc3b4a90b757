import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { type Program, programIn } from '../../cli/program.ts'

/** Help loads more modules than this, because it shows all commands. */
const MODULES_MIN = 20

/** Runs a command and returns how many modules came from the compile cache. */
async function accepted(program: Program, env: Record<string, string>): Promise<number> {
  const { code, stderr } = await program.begin('--help', {
    env: { NODE_COMPILE_CACHE: '', NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...env },
  }).ended
  assert.equal(code, 0, stderr)
  return stderr.split('was accepted').length - 1
}

/** Fills the directory below `cache` that the program would use, and asserts that it is usable. */
async function plant(program: Program, cache: string): Promise<string> {
  const own = join(cache, 'server-listing')
  mkdirSync(own, { recursive: true, mode: 0o700 })
  await accepted(program, { XDG_CACHE_HOME: cache })
  assert.ok(
    (await accepted(program, { XDG_CACHE_HOME: cache })) > MODULES_MIN,
    'nothing was planted',
  )
  return own
}

test('a second run loads compiled code from a directory that only its user can open', async (t) => {
  const program = programIn(t)
  for (const [variable, below] of [
    ['HOME', '.cache/server-listing'],
    ['XDG_CACHE_HOME', 'server-listing'],
    ['CACHE_DIRECTORY', 'server-listing'],
  ] as const) {
    const home = temporaryFolder(t)
    assert.equal(await accepted(program, { [variable]: home }), 0)
    assert.equal(statSync(join(home, below)).mode & 0o777, 0o700)
    assert.ok((await accepted(program, { [variable]: home })) > MODULES_MIN)
  }
})

test('compiled code in the directory for temporary files is not used', async (t) => {
  const program = programIn(t)
  const shared = temporaryFolder(t)
  const HOME = temporaryFolder(t)
  await accepted(program, { NODE_COMPILE_CACHE: join(shared, 'node-compile-cache') })
  assert.equal(await accepted(program, { TMPDIR: shared, HOME }), 0)
})

test('compiled code is not used from a directory that others can write, or behind a symbolic link', async (t) => {
  const program = programIn(t)
  const cache = join(temporaryFolder(t), 'cache')
  const own = await plant(program, cache)
  for (const [folder, mode] of [
    [own, 0o770],
    [own, 0o1707],
    [cache, 0o777],
  ] as const) {
    const before = statSync(folder).mode
    chmodSync(folder, mode)
    assert.equal(await accepted(program, { XDG_CACHE_HOME: cache }), 0, `${folder} ${mode}`)
    chmodSync(folder, before)
  }
  const linked = temporaryFolder(t)
  symlinkSync(own, join(linked, 'server-listing'))
  assert.equal(await accepted(program, { XDG_CACHE_HOME: linked }), 0)
})

test('a command runs without a home directory', async (t) => {
  const program = programIn(t)
  const file = join(program.folder, 'file')
  writeFileSync(file, '')
  for (const HOME of ['/proc/nowhere', file]) assert.equal(await accepted(program, { HOME }), 0)
  assert.deepEqual(readdirSync(program.folder), ['file'])
})
