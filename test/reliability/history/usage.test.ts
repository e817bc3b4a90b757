import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const RUN = fileURLToPath(new URL('./run.ts', import.meta.url))
const USAGE = /^usage: npm run nemesis -- \[--minutes M\].*\n$/

function nemesis(...args: string[]) {
  return spawnSync(process.execPath, [RUN, ...args], { encoding: 'utf8' })
}

test('npm run nemesis -- --help prints one line of usage', () => {
  const { status, stdout, stderr } = nemesis('--help')
  assert.deepEqual([status, stderr], [0, ''])
  assert.match(stdout, USAGE)
})

test('a bad option of npm run nemesis is named above the usage, without a stack trace', () => {
  for (const args of [['--minute', '1'], ['--minutes', '0'], ['--engine', 'mysql'], ['more']]) {
    const { status, stderr } = nemesis(...args)
    const [complaint = '', ...usage] = stderr.split(/(?<=\n)/)
    assert.equal(status, 2, stderr)
    assert.match(complaint, new RegExp(args[0]!))
    assert.match(usage.join(''), USAGE)
  }
})
