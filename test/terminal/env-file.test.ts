import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { addAda } from '../cli/ada.ts'
import { assertRefused, commandsIn } from '../cli/command.ts'
import { ENV_CASES } from './env-cases.ts'

test('--env-file gives a command the variables that the environment lacks', async (t) => {
  const program = commandsIn(t)
  await addAda(program)
  const file = join(program.folder, 'service.env')
  writeFileSync(
    file,
    `\uFEFFDATABASE_URL="sqlite:${program.databasePath}"\n# the service\r\nPORT=70000\r\n`,
  )
  // An empty variable counts as unset, and the environment has the other one.
  const env = { DATABASE_URL: '', PORT: '0' }
  for (const args of [`--env-file ${file} user list`, `user list --env-file=${file}`])
    assert.match(await program.done(args, { env }), /ada@example\.com/)
  const wrong = await program.run(`user list --env-file ${file}`, { env: { ...env, PORT: '' } })
  assertRefused(wrong, 2, 'PORT must be a port from 0 to 65535, not "70000"')
  const elsewhere = { DATABASE_URL: `sqlite:${program.databasePath}.no` }
  const other = await program.run(`user list --env-file ${file}`, { env: elsewhere })
  assertRefused(other, 1, 'there is no database file', 'listing.db.no')
})

for (const { text, value, refused } of ENV_CASES)
  test(`--env-file ${refused ? 'refuses' : 'reads'} ${JSON.stringify(text)}`, async (t) => {
    const program = commandsIn(t)
    const file = join(program.folder, 'service.env')
    writeFileSync(file, text)
    const ended = await program.run(`config --json --env-file ${file}`)
    if (refused !== undefined) {
      const [sentence = ''] = ended.stderr.trim().split('\n')
      assert.ok(sentence.startsWith(`error: --env-file "${file}", line `), sentence)
      return assert.match(sentence, refused)
    }
    assert.equal(ended.code, 0, ended.stderr)
    const settings = JSON.parse(ended.stdout) as { name: string; value: string }[]
    assert.equal(settings.find(({ name }) => name === 'SITE_NAME')?.value, value)
  })

test('an --env-file that cannot be read or sets nothing is an error', async (t) => {
  const program = commandsIn(t)
  const [missing, empty] = ['no.env', 'empty.env'].map((name) => join(program.folder, name))
  writeFileSync(empty!, '# nothing\n')
  const run = (file = '') => program.run(['user', 'list', '--env-file', file])
  assertRefused(
    await run(missing),
    2,
    `cannot read the file "${missing}" of --env-file: it does not exist`,
  )
  assertRefused(await run(empty), 2, `--env-file "${empty}" has no line such as DATABASE_URL=`)
  assertRefused(
    await program.run('user list --env-file'),
    2,
    "'--env-file <file>' argument missing",
  )
})
