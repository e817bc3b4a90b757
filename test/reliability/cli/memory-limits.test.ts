import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../../fixtures/tree.ts'

/** Prints how the process was started. */
const PRINT = 'console.log(JSON.stringify([process.execArgv, process.env.MALLOC_ARENA_MAX]))'

test('the command limits what memory V8 and malloc keep', () => {
  const printed = execFileSync(join(ROOT, 'bin/server-listing.js'), ['--version'], {
    encoding: 'utf8',
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRINT)}`,
    },
  })
  const [options, arenas] = JSON.parse(printed.split('\n', 1)[0]!) as [string[], string]
  for (const option of ['--max-semi-space-size=8', '--no-parallel-scavenge'])
    assert.ok(options.includes(option), printed)
  assert.equal(arenas, '1')
})
