import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NAMED_SETTINGS } from '../../src/config/settings.ts'
import { assertRefused, commandsIn } from './command.ts'

test('an option takes its value in either form, and -- ends the options', async (t) => {
  const program = commandsIn(t)
  const id = await program.done('user add --create -- ada@example.com')
  for (const args of [
    ['--user', 'ada@example.com', '--name', '--bot'],
    ['--user=ada@example.com', '--name=a=b'],
  ])
    await program.done(['key', 'issue', ...args])
  const listed = JSON.parse(await program.done('key list --json --json --user=ada@example.com'))
  assert.deepEqual(listed.map(({ name }: { name: string }) => name).toSorted(), ['--bot', 'a=b'])
  assert.equal(listed[0].user_id, id)
  assertRefused(await program.run('key list --user'), 2, "'--user <email>' argument missing")
  assertRefused(await program.run('key list --json=yes'), 2, "unknown option '--json=yes'")
  assertRefused(
    await program.run('key list -- --user'),
    2,
    'Expected 0 arguments but got 1: --user',
  )
})

test("the program's help names its environment variables and exit codes", async (t) => {
  const help = await commandsIn(t).done('--help')
  for (const [name, { default: value }] of NAMED_SETTINGS) {
    const [, text = ''] = new RegExp(`\\n  ${name} +([^]*?)\\n(?:  \\w|\\n)`).exec(help) ?? []
    // The meaning, and not only the default.
    assert.match(text.replace(/\(default:[^)]*\)/, ''), /\w{3}/, name)
    const line = text.replaceAll(/\s+/g, ' ')
    assert.ok(line.includes(value === undefined ? '' : `(default: ${value}`), text)
  }
  assert.doesNotMatch(help, /`|\]\(/)
  assert.match(help, /Exit codes: 0 success, 1 failure, 2 wrong command line or environment/)
})
