import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'

test('the command limits the young generation of V8 and the arenas of malloc', async (t) => {
  const end: (() => Promise<unknown>)[] = []
  // Before the folder is removed: hooks run in the order of their registration.
  t.after(() => end[0]?.())
  const child = spawn(join(ROOT, 'bin/server-listing.js'), ['serve'], {
    cwd: temporaryFolder(t),
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      DATABASE_URL: 'sqlite:listing.db',
      PORT: '0',
      DASHBOARD_PORT: '0',
      OPS_PORT: '0',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'close')
  end.push(() => {
    child.kill('SIGKILL')
    return ended
  })
  const words = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8').split('\0')
  // The same process is env before it is Node.js.
  await eventually(async () => words('cmdline')[0] === 'node')
  assert.ok(words('cmdline').includes('--max-semi-space-size=8'))
  assert.ok(words('environ').includes('MALLOC_ARENA_MAX=1'))
})
