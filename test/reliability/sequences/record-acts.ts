import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { presentInstant } from '../../../src/model/instant.ts'
import { activeKeys, removeUser, revoke } from './model.ts'
import { type Act, done, hashOf, pick, type Place, pickKey, pickUser, readRows } from './world.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

const ACTIVE_MAX = 5

export const addUser: Act = async (world) => {
  const { main } = world
  const taken = new Set(Object.values(main.side.rows.users).map(({ email }) => email))
  const email = ['ada', 'bob', 'eve']
    .map((name) => `${name}@example.com`)
    .find((e) => !taken.has(e))
  if (email === undefined) return false
  await done(world, main, 'user', 'add', email)
  for (const [id, user] of Object.entries((await readRows(main)).users))
    if (user.email === email) main.side.rows.users[id] = user
  return true
}

/** Gives the one server of a user an address that none has had. */
export const moveServer: Act = async (world) => {
  const users = Object.entries(world.main.side.rows.users)
  // A site names its servers by their ids.
  const user = pick(
    world,
    users.filter(([, { externalId }]) => externalId === null),
  )
  if (user === null) return false
  const [id, { email }] = user
  const address = `${randomUUID()}.example.com`
  const list = JSON.stringify([{ slug: 'one', name: 'One', address }])
  const { stderr, code } = await world.run(
    world.main,
    ['server', 'import', '--user', email!, '-'],
    list,
  )
  assert.equal(code, 0, stderr)
  world.main.side.rows.users[id]!.server = address
  return true
}

export const issue: Act = async (world) => {
  const { main, random, keys } = world
  const users = Object.entries(main.side.rows.users).filter(
    ([id]) => activeKeys(main.side, id) < ACTIVE_MAX,
  )
  if (users.length === 0) return false
  const [userId, { email, externalId }] = random.pick(users)
  const named = externalId === null ? ['--user', email!] : ['--external-id', externalId]
  const key = (await done(world, main, 'key', 'issue', ...named, '--name', 'bot')).trim()
  keys.set(hashOf(key), key)
  main.side.rows.keys[hashOf(key)] = { userId, isRevoked: false }
  return true
}

/** By command or by a page. */
export const revokeKey: Act = async (world) => {
  const { main, service, keys, random } = world
  const hash = pickKey(world)
  if (hash === null) return false
  if (service !== null && random.chance(0.5))
    await recordsOf(service).revokeApiKeysByHash(
      [Buffer.from(hash, 'hex')],
      operatorAt(presentInstant()),
    )
  else {
    const { stderr, code } = await world.run(main, ['key', 'revoke', '--key-stdin'], keys.get(hash))
    assert.equal(code, 0, stderr)
  }
  revoke(main.side, hash)
  return true
}

/** The next program that starts on the file completes the journal. */
export const revokeBySql: Act = async (world) => {
  const { main } = world
  const hash = pickKey(world)
  if (hash === null) return false
  const now = main.engine === 'sqlite' ? String(presentInstant()) : 'now()'
  await main.execute(`UPDATE api_keys SET revoked_at = ${now} WHERE ${isKey(main, hash)}`)
  revoke(main.side, hash)
  await done(world, main, 'key', 'list')
  return true
}

function isKey({ engine }: Place, hash: string): string {
  return `key_hash = ${engine === 'sqlite' ? `x'${hash}'` : `'\\x${hash}'`}`
}

export const deleteBySql: Act = async (world) => {
  const { main } = world
  const hash = pickKey(world)
  if (hash === null) return false
  await main.execute(`DELETE FROM api_keys WHERE ${isKey(main, hash)}`)
  delete main.side.rows.keys[hash]
  return true
}

/** Another program deletes a row and inserts it again, as active. */
export const reloadBySql: Act = async (world) => {
  const { main } = world
  const hash = pickKey(world)
  if (hash === null) return false
  const { userId, isRevoked } = main.side.rows.keys[hash]!
  if (isRevoked && activeKeys(main.side, userId) >= ACTIVE_MAX) return false
  const columns = 'id, user_id, name, prefix, key_hash, created_at'
  await main.execute(
    `CREATE TABLE reloaded AS SELECT ${columns} FROM api_keys WHERE ${isKey(main, hash)}`,
  )
  await main.execute(`DELETE FROM api_keys WHERE ${isKey(main, hash)}`)
  await main.execute(`INSERT INTO api_keys (${columns}) SELECT ${columns} FROM reloaded`)
  await main.execute('DROP TABLE reloaded')
  return true
}

export const remove: Act = async (world) => {
  const user = pickUser(world)
  if (user === null) return false
  await done(world, world.main, 'user', 'remove', ...user.named, '--yes')
  removeUser(world.main.side, user.id)
  return true
}

export const disable: Act = async (world) => {
  const { main, random } = world
  const user = pickUser(world)
  if (user === null) return false
  const isDisabled = random.chance(0.5)
  await done(world, main, 'user', isDisabled ? 'disable' : 'enable', ...user.named)
  main.side.rows.users[user.id]!.isDisabled = isDisabled
  return true
}
