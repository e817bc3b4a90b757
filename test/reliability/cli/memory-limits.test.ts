import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'

const OPTION = '--max-semi-space-size=8'
const VARIABLE = 'MALLOC_ARENA_MAX=1'

test('the command limits the young generation of V8 and the arenas of malloc', async (t) => {
  const child = spawn(join(ROOT, 'bin/server-listing.js'), ['serve'], {
    cwd: temporaryFolder(t),
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      DATABASE_URL: 'sqlite:listing.db',
      PORT: '0',
      DASHBOARD_PORT: '0',
      OPS_PORT: '0',
    },
  })
  const ended = once(child, 'close')
  t.after(async () => {
    child.kill()
    await ended
  })
  // Its first output shows that Node.js runs.
  await once(child.stdout, 'data')
  const words = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8').split('\0')
  assert.ok(words('cmdline').includes(OPTION))
  assert.ok(words('environ').includes(VARIABLE))
})

test('the image has the same limits', () => {
  const lines = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8')
  assert.match(lines, new RegExp(`^ENTRYPOINT .*"${OPTION}"`, 'm'))
  assert.match(lines, new RegExp(`^ +${VARIABLE} `, 'm'))
})
