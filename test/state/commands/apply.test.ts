import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { empty, fileOf, hashOf } from './files.ts'

test('apply prints a plan, asks off a terminal for --yes, and makes 0 changes the second time', async (t) => {
  const { folder, run, exported } = await empty(t)
  const before = await exported()
  const key = generateKey()
  writeFileSync(join(folder, 'bot.key'), `${key}\n`)
  const file = join(folder, 'state.json')
  const servers = [{ name: 'Survival', address: 'play.example.com', slug: 'survival' }]
  const keys = [{ name: 'bot', key_file: 'bot.key' }]
  writeFileSync(file, fileOf({ email: 'ada@example.com', keys, servers }))

  const lines = [
    '',
    'ada@example.com',
    '  + user',
    `  + key "bot" (${key.slice(0, 16)}…)`,
    '  + server "Survival" (play.example.com)',
    '',
    '',
  ].join('\n')
  for (const args of ['--dry-run', '']) {
    const { code, stdout, stderr } = await run(`apply ${file} ${args}`.trim())
    assert.equal(stdout, '')
    assert.match(stderr, /^Plan for .*listing\.db: 3 to add, 0 to change, 0 to remove or revoke\n/)
    assert.ok(stderr.includes(lines), stderr)
    assert.equal(code, args === '' ? 2 : 0)
    if (args === '') assert.match(stderr, /error: nothing was changed: this would add 3.*--yes/)
    else assert.match(stderr, /\nnothing was changed\n$/)
    assert.equal(await exported(), before)
  }
  const applied = await run(`apply ${file} --yes --json`)
  assert.equal(applied.code, 0, applied.stderr)
  assert.match(applied.stderr, /\n3 added, 0 changed, 0 removed or revoked\ndatabase: /)
  const { changes, ...counts } = JSON.parse(applied.stdout)
  assert.deepEqual(counts, { applied: true, added: 3, changed: 0, removed: 0, kept_revoked: [] })
  assert.deepEqual(Object.keys(changes[0]), ['action', 'kind', 'of', 'text'])
  const after = await exported()
  assert.equal(JSON.parse(after).users[0].keys[0].key_hash, hashOf(key))
  assert.ok(!after.includes(key.slice(20)))
  // Without changes there is nothing to confirm.
  const again = await run(`apply ${file} --prune`)
  assert.deepEqual([again.code, again.stdout], [0, ''])
  assert.match(again.stderr, /\n0 changes\ndatabase: /)
  assert.equal(await exported(), after)
})

test('apply takes the values of a server as an import takes them', async (t) => {
  const { folder, run, exported } = await empty(t)
  const file = join(folder, 'state.json')
  const server = { name: ' Survival\u00a0', address: ' play.example.com', slug: 'survival\t' }
  const servers = [{ ...server, edition: ' java', version: 'N/A', listing_kind: '' }]
  writeFileSync(file, fileOf({ email: 'ada@example.com', servers }))
  assert.equal((await run(`apply ${file} --yes`)).code, 0)
  const [stored] = JSON.parse(await exported()).users[0].servers
  const { name, address, slug, edition, version, listing_kind } = stored
  assert.deepEqual(
    [name, address, slug, edition, version, listing_kind],
    ['Survival', 'play.example.com', 'survival', 'java', null, null],
  )
  assert.match((await run(`apply ${file}`)).stderr, /\n0 changes\n/)
})

test('an export of values that an earlier version stored applies and imports as unchanged', async (t) => {
  const { folder, databasePath, run, done, exported } = await empty(t)
  const file = join(folder, 'state.json')
  const words = ['NULL', 'N/A', '\\N', ' NULL ', 'java ', '\u00a0']
  const servers = words.map((_, at) => ({ name: `${at}`, address: 'a.example', slug: `s${at}` }))
  writeFileSync(file, fileOf({ email: 'ada@example.com', servers }))
  await done(`apply ${file} --yes`)
  const database = new DatabaseSync(databasePath)
  const store = database.prepare(
    'UPDATE servers SET edition = $word, status = $word, version = $word, listing_kind = $word WHERE slug = $slug',
  )
  for (const [at, word] of words.entries()) store.run({ word, slug: `s${at}` })
  database.exec("UPDATE servers SET slug = 'NULL' WHERE slug = 's0'")
  database.close()

  const before = await exported()
  writeFileSync(file, before)
  const dry = await run(`apply ${file} --prune --dry-run`)
  assert.match(dry.stderr, /\n0 changes\n/)
  await done(`apply ${file} --prune`)
  const list = join(folder, 'servers.json')
  writeFileSync(list, await done('server list --user ada@example.com --json'))
  const { stderr } = await run(`server import --user ada@example.com ${list} --prune`)
  assert.match(stderr, /0 new, 0 changed, 6 unchanged/)
  assert.equal(await exported(), before)
})
