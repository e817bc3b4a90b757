import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertRefused } from '../../cli/command.ts'
import { programIn } from '../../cli/program.ts'
import { besideService } from './beside-service.ts'
import { fileOf } from './files.ts'

test('apply beside a serving process gives keys, revokes keys and changes what is served', (t) =>
  besideService(programIn(t)))

test('on a terminal, apply shows the plan and asks, and only yes does it', async (t) => {
  const program = programIn(t)
  await program.done('migrate')
  writeFileSync(join(program.folder, 'state.json'), fileOf({ email: 'ada@example.com' }))
  const answer = (stdin: string) =>
    program.begin('apply state.json', { stdin, onTerminal: true }).ended
  const refused = await answer('no\n')
  assert.equal(refused.code, 1)
  assert.match(
    refused.stdout,
    / {2}\+ user\r?\n[\s\S]*This would add 1.*\.\r?\n[\s\S]*Type yes to do it/,
  )
  assert.equal(await program.done('user list --json'), '[]')
  const done = await answer('yes\n')
  assert.equal(done.code, 0, done.stdout)
  assert.match(await program.done('user list'), /ada@example\.com/)
  assertRefused(await program.run('apply'), 2, "missing required argument 'file'")
})
