import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateKey, prefixOf } from '../../../src/keys/api-key.ts'
import { ask } from '../../fixtures/requests.ts'
import { programIn } from '../../cli/program.ts'
import { hashOf } from './files.ts'

const IMPORT = 'key import --user ada@example.com --hash-file -'

test("keys of another site keep working by their hashes, beside the user's own keys", async (t) => {
  const program = programIn(t)
  await program.done('user add ada@example.com --create')
  await program.done('key issue --user ada@example.com --name own')
  // Another site may have made keys of another length.
  const [one, other] = [generateKey(), 'svc_live_0a1b2c']
  const table = `name;key_hash;prefix;last_used_at\none;${hashOf(one)};${prefixOf(one)};2026-01-31T12:00:00Z\n"other"; "${hashOf(other)}";NULL;\\N\n`
  const { port } = await program.serve()
  const first = await program.run(IMPORT, { stdin: table })
  assert.match(first.stderr, /^imported 2 keys for ada@example\.com: 2 new, 0 known\ndatabase: /)
  const json = JSON.stringify([{ name: 'one', key_hash: hashOf(one).toUpperCase() }])
  const second = await program.run(`${IMPORT} --json`, { stdin: json })
  assert.match(second.stderr, /^imported 1 key for ada@example\.com: 0 new, 1 known\n/)
  assert.deepEqual(JSON.parse(second.stdout).changes, [])
  const listed = JSON.parse(await program.done('key list --json'))
  const byName = new Map<string, Record<string, string>>(
    listed.map((one: Record<string, string>) => [one.name, one]),
  )
  // Keys of one import have one instant, so that their order depends on their ids.
  assert.deepEqual(
    ['own', 'one', 'other']
      .map((name) => byName.get(name)!)
      .map(({ name, prefix, last_used_at }) => [
        name,
        prefix === prefixOf(one) || prefix,
        last_used_at,
      ]),
    [
      ['own', byName.get('own')!.prefix, null],
      ['one', true, '2026-01-31T12:00:00.000000Z'],
      ['other', 'svc_live_', null],
    ],
  )
  for (const key of [one, other]) assert.equal((await ask(port, { key })).status, 200)
})

test('a table names a key by a file beside it, as a state file does', async (t) => {
  const program = programIn(t)
  await program.done('user add ada@example.com --create')
  const key = generateKey()
  const { port } = await program.serve()
  writeFileSync(join(program.folder, 'bob.key'), `${key}\n`)
  writeFileSync(
    join(program.folder, 'keys.csv'),
    `email,name,key_hash,key_file\nada@example.com,bot,,bob.key\nada@example.com,other,${hashOf('svc_live_x')},\n`,
  )
  const file = join(program.folder, 'keys.csv')
  const { stderr } = await program.run(`key import --hash-file ${file}`)
  assert.match(stderr, /^imported 2 keys: 2 new, 0 known\n/)
  assert.equal((await ask(port, { key })).status, 200)
})
