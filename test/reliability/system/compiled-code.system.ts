import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../../fixtures/folder.ts'

const BIN = fileURLToPath(new URL('../../../bin/server-listing.js', import.meta.url))
const UNPRIVILEGED = 65_534

/**
 * Runs `--version` as a user and returns the number of modules loaded from a cache of compiled
 * code.
 */
function accepted(uid: number, env: Record<string, string>): number {
  const { status, stderr } = spawnSync(process.execPath, [BIN, '--version'], {
    uid,
    gid: uid,
    cwd: '/',
    encoding: 'utf8',
    env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...env },
  })
  assert.equal(status, 0, stderr)
  return stderr.split('was accepted').length - 1
}

test('root does not run compiled code that another user has planted', (t) => {
  assert.equal(process.getuid?.(), 0, 'this test needs root')
  const above = temporaryFolder(t)
  chmodSync(above, 0o1777)
  const cache = join(above, 'cache')
  const names = ['server-listing', 'node-compile-cache'].map((name) => join(cache, name))
  for (const folder of [cache, ...names]) {
    mkdirSync(folder, { mode: 0o755 })
    chownSync(folder, UNPRIVILEGED, UNPRIVILEGED)
  }
  for (const folder of names) {
    accepted(UNPRIVILEGED, { NODE_COMPILE_CACHE: folder })
    // Node.js looks for a name that ends with the user id of its own process.
    const [made = ''] = readdirSync(folder)
    renameSync(join(folder, made), join(folder, made.replace(/-\d+$/, '-0')))
    assert.equal(statSync(join(folder, made.replace(/-\d+$/, '-0'))).uid, UNPRIVILEGED)
    assert.ok(accepted(0, { NODE_COMPILE_CACHE: folder }) > 20, 'the planted code is not loaded')
  }

  const HOME = temporaryFolder(t)
  assert.equal(accepted(0, { HOME, TMPDIR: cache }), 0)
  assert.equal(accepted(0, { XDG_CACHE_HOME: cache }), 0)
  // The folder belongs to root, but another user can replace it through its parent.
  for (const name of names) renameSync(name, `${name}-away`)
  mkdirSync(join(cache, 'server-listing'), { mode: 0o700 })
  assert.equal(accepted(0, { XDG_CACHE_HOME: cache }), 0)
  assert.deepEqual(readdirSync(join(cache, 'server-listing')), [])
})
