import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import type { ActName } from '../../../src/acts/document.ts'
import { readDocument } from '../../../src/acts/read-document.ts'
import { acts } from '../../../src/acts/records/acts.ts'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { generateKey } from '../../../src/keys/api-key.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { openStore } from '../../../src/open-store.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { activeKeys, removeUser, revoke, type User } from './model.ts'
import { type Act, done, hashOf, pick, type Place, readRows, type World } from './world.ts'

/*
 * What a site does with its own users, by functions or as documents. An operator acts on them, too.
 */

const SITE = ['s1', 's2']
const ACTIVE_MAX = 5

/** The site's user with this external id. */
function userOf({ main }: World, externalId: string): [id: string, user: User] | null {
  const users = Object.entries(main.side.rows.users)
  return users.find(([, user]) => user.externalId === externalId) ?? null
}

/** Sends one act, on PostgreSQL by a function or as a document. */
async function send({ main, random }: World, act: ActName, rows: object[]): Promise<void> {
  if (main.engine === 'postgres' && random.chance(0.5))
    await asAdmin(main.url, (client) => client.query(`SELECT ${act}($1)`, [JSON.stringify(rows)]))
  else await perform(main, { [act]: rows })
}

async function perform({ url }: Place, document: object): Promise<void> {
  const read = readDocument(structuredClone(document), 'site')
  assert.ok('document' in read, JSON.stringify(read))
  const store = await openStore(parseDatabaseUrl(url, 'DATABASE_URL'))
  try {
    await acts(store.database).perform(read.document, {
      hand: 'site',
      actor: { address: 'token site', at: presentInstant() },
      isOperator: () => false,
    })
  } finally {
    await store.close()
  }
}

/** Adds the users, or gives them the address that they have at the site by now. */
export const putUsers: Act = async (world) => {
  const { main, random } = world
  const rows = SITE.map((external_id) => ({
    external_id,
    email: `${external_id}-${random.pick(['a', 'b'])}@example.com`,
  }))
  await send(world, 'put_users', rows)
  const found = await readRows(main)
  for (const { external_id, email } of rows) {
    const [id, user] = userOf(world, external_id) ?? idIn(found.users, external_id)
    main.side.rows.users[id] = { ...user, email: user.isDisabled ? user.email : email }
  }
  return true
}

async function setBanned(world: World, externalId: string, isBanned: boolean): Promise<void> {
  const user = userOf(world, externalId)
  await send(world, 'put_users', [
    { external_id: externalId, banned_at: isBanned ? '2026-06-01T00:00:00Z' : null },
  ])
  if (user !== null) user[1].isBanned = isBanned
}

const pickSites = ({ main, random }: World): string | null => {
  const users = Object.values(main.side.rows.users).flatMap(({ externalId }) => externalId ?? [])
  return users.length === 0 ? null : random.pick(users)
}

export const ban: Act = async (world) => {
  const externalId = pickSites(world)
  if (externalId === null) return false
  await setBanned(world, externalId, world.random.chance(0.5))
  return true
}

/** The site and an operator ban one user in any order, and one of them takes it back. */
export const banTwice: Act = async (world) => {
  const { main, random } = world
  const externalId = pickSites(world)
  if (externalId === null) return false
  const disable = async (isDisabled: boolean) => {
    const act = isDisabled ? 'disable' : 'enable'
    await done(world, main, 'user', act, '--external-id', externalId)
    userOf(world, externalId)![1].isDisabled = isDisabled
  }
  const acts = [() => setBanned(world, externalId, true), () => disable(true)]
  for (const act of random.shuffle(acts)) await act()
  await (random.chance(0.5) ? disable(false) : setBanned(world, externalId, false))
  return true
}

/** The id that a new user has got. */
function idIn(users: Record<string, User>, externalId: string): [id: string, user: User] {
  const [id] = Object.entries(users).find(([, user]) => user.externalId === externalId)!
  return [id, { email: null, externalId, isDisabled: false, isBanned: false, server: null }]
}

/** Gives the one server of a site's user an address that none has had. */
export const putServer: Act = async (world) => {
  const { main, random } = world
  const external_id = random.pick(SITE)
  const user = userOf(world, external_id)
  const address = `${randomUUID()}.example.com`
  const digits = hash('sha256', external_id)
  const id = `${digits.slice(0, 8)}-0000-4000-8000-${digits.slice(8, 20)}`
  await send(world, 'put_servers', [{ id, external_id, name: 'One', slug: 'one', address }])
  if (user !== null) main.side.rows.users[user[0]]!.server = address
  return true
}

/** A new key, or one that the site had before. */
export const putKey: Act = async (world) => {
  const { main, random, keys } = world
  const external_id = random.pick(SITE)
  const user = userOf(world, external_id)
  const known = pick(world, [...keys.keys()])
  const key = generateKey()
  const key_hash = known !== null && random.chance(0.3) ? known : hashOf(key)
  if (key_hash !== known) keys.set(key_hash, key)
  await send(world, 'put_keys', [{ external_id, name: 'bot', key_hash }])
  const { side } = main
  const isListed = side.list.has(key_hash)
  if (user === null || side.rows.keys[key_hash] !== undefined) return true
  if (isListed || activeKeys(side, user[0]) < ACTIVE_MAX)
    side.rows.keys[key_hash] = { userId: user[0], isRevoked: isListed }
  return true
}

export const revokeKeys: Act = async (world) => {
  const { main, keys } = world
  const key_hash = pick(world, [...keys.keys()])
  if (key_hash === null) return false
  const external_id = world.random.pick(SITE)
  await send(world, 'revoke_keys', [{ external_id, key_hash }])
  const user = userOf(world, external_id)
  if (user !== null && main.side.rows.keys[key_hash]?.userId === user[0])
    revoke(main.side, key_hash)
  return true
}

/** A user whom an operator has disabled stays, without anything. */
export const removeUsers: Act = async (world) => {
  const { main, random } = world
  const external_id = random.pick(SITE)
  const user = userOf(world, external_id)
  if (user === null) return false
  await send(world, 'remove_users', [{ external_id }])
  const [id, { isDisabled }] = user
  const { side } = main
  if (!isDisabled) removeUser(side, id)
  else {
    for (const [one, { userId }] of Object.entries(side.rows.keys))
      if (userId === id) revoke(side, one)
    Object.assign(side.rows.users[id]!, { email: null, isBanned: true, server: null })
  }
  return true
}
