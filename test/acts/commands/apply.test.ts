import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { empty, fileOf, hashOf } from './files.ts'

test('a key file stands beside the state file, and the key keeps its prefix and hash', async (t) => {
  const { folder, run, exported } = await empty(t)
  const key = generateKey()
  writeFileSync(join(folder, 'bot.key'), `${key}\n`)
  const file = join(folder, 'state.json')
  const keys = [{ name: 'bot', key_file: 'bot.key' }]
  writeFileSync(file, fileOf({ email: 'ada@example.com', keys }))
  const applied = await run(`apply ${file} --yes`)
  assert.equal(applied.code, 0, applied.stderr)
  assert.ok(applied.stderr.includes(`  + key "bot" (${key.slice(0, 16)}…)`), applied.stderr)
  const text = await exported()
  assert.equal(JSON.parse(text).put_keys[0].key_hash, hashOf(key))
  assert.ok(!text.includes(key.slice(20)))
})

test('apply takes the values of a server as an import takes them', async (t) => {
  const { folder, run, exported } = await empty(t)
  const file = join(folder, 'state.json')
  const server = { name: ' Survival\u00a0', address: ' play.example.com', slug: 'survival\t' }
  const servers = [{ ...server, edition: ' java', version: 'N/A', listing_kind: '' }]
  writeFileSync(file, fileOf({ email: 'ada@example.com', servers }))
  assert.equal((await run(`apply ${file} --yes`)).code, 0)
  const [stored] = JSON.parse(await exported()).put_servers
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
  const dry = await run(`apply ${file} --dry-run`)
  assert.match(dry.stderr, /\n0 changes\n/)
  await done(`apply ${file} --yes`)
  const list = join(folder, 'servers.json')
  writeFileSync(list, await done('server list --user ada@example.com --json'))
  const { stderr } = await run(`server import --user ada@example.com ${list} --prune`)
  assert.match(stderr, /0 new, 0 changed, 6 unchanged/)
  assert.equal(await exported(), before)
})
