import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { prefixOf } from '../../../src/keys/api-key.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { ACTIVE_KEYS_MAX, FIXED_PREFIX } from '../../../src/model/key-format.ts'
import { ORGANIZATIONS_MAX } from '../../../src/organizations/organization.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import type { Store } from '../../../src/database/store.ts'
import { createUser } from '../../../src/accounts/user.ts'
import type { Random } from '../../fixtures/random.ts'
import type { Changes, Content } from './content.ts'
import { removeServer, setStatus } from '../../fixtures/changed-servers.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** One transaction of a store, and the changes that it makes. */
export interface Act {
  changes: Changes
  perform(store: Store): Promise<void>
}

const USERS_MAX = 4
const IMPORTED = 120

/** The secret of a key, derived from its id so that all processes know it. */
export function keyOf(id: string): string {
  return `${FIXED_PREFIX}${id}`
}

/** The ids of the active keys. */
export function activeKeys(content: Content): string[] {
  return keysOf(content, '').flatMap(({ id, isActive }) => (isActive ? [id] : []))
}

/** A random next act of a user or an operator. */
export function drawAct(random: Random, content: Content): Act {
  const users = Object.entries(content).flatMap(([name, value]) =>
    name.startsWith('user ') ? [value.split(' ')[0]!] : [],
  )
  if (users.length === 0 || (users.length < USERS_MAX && random.chance(0.1))) return registerUser()
  const user = random.pick(users)
  const keys = keysOf(content, user).filter(({ isActive }) => isActive)
  const servers = registeredBy(content, user)
  const acts = [
    () => issue(user, keys.length),
    () => issue(user, keys.length),
    () => register(user),
    () => importServers(user),
    () => foundOrganization(user, organizationsOf(content, user)),
    ...(keys.length > 2 ? [() => revoke(user, random.pick(keys))] : []),
    ...(servers.length > 2
      ? [
          () => publish(content, user, random.pick(servers)),
          () => remove(user, random.pick(servers)),
        ]
      : []),
  ]
  return random.pick(acts)()
}

interface Key {
  id: string
  name: string
  isActive: boolean
}

function keysOf(content: Content, user: string): Key[] {
  return Object.entries(content).flatMap(([name, value]) => {
    if (!name.startsWith('key ') || !value.startsWith(user)) return []
    const [, called = '', state] = value.split(' ')
    return [{ id: name.slice('key '.length), name: called, isActive: state === undefined }]
  })
}

/** Servers registered one by one. The ids of imported servers are unknown. */
function registeredBy(content: Content, user: string): string[] {
  const start = `server ${user} `
  return Object.keys(content).flatMap((name) =>
    name.startsWith(start) && !name.includes('imported') ? [name.slice(start.length)] : [],
  )
}

/** Adds a user together with a password. */
function registerUser(): Act {
  const user = createUser(`${randomUUID()}@example.com`)
  const password = `hash-${user.id}`
  return {
    changes: { [`user ${user.email}`]: `${user.id} ${password}` },
    async perform(store) {
      assert.equal(
        await recordsOf(store).insertUserWithPassword(
          user,
          password,
          'sign-up',
          operatorAt(presentInstant()),
        ),
        true,
      )
    },
  }
}

/** How many organizations the user has founded. Each has its founder only. */
function organizationsOf(content: Content, user: string): number {
  const owned = Object.entries(content).filter(
    ([name, value]) => name.startsWith('organization ') && value.startsWith(user),
  )
  return owned.length
}

/** Makes an organization together with its owner; at the limit, checks that it is refused. */
function foundOrganization(user: string, owned: number): Act {
  const id = randomUUID()
  const isFull = owned === ORGANIZATIONS_MAX
  return {
    changes: isFull ? {} : { [`organization ${id}`]: `${user} owner` },
    async perform(store) {
      const organization = { id, slug: id, name: 'Guild' }
      const made = await recordsOf(store).insertOrganization(
        user,
        organization,
        operatorAt(presentInstant()),
      )
      assert.equal(made, isFull ? 'too many' : 'made')
    },
  }
}

/** Issues a key; at the limit, checks that it is refused. */
function issue(user: string, active: number): Act {
  const id = randomUUID()
  const key = keyOf(id)
  const record = { id, user_id: user, name: `bot-${id}`, prefix: prefixOf(key) }
  const apiKey = { ...record, created_at: presentInstant(), revoked_at: null, last_used_at: null }
  const isFull = active === ACTIVE_KEYS_MAX
  return {
    changes: isFull ? {} : { [`key ${id}`]: `${user} bot-${id}` },
    async perform(store) {
      const inserted = await recordsOf(store).insertApiKey(
        apiKey,
        hashApiKey(key),
        ACTIVE_KEYS_MAX,
        operatorAt(presentInstant()),
      )
      assert.equal(inserted, isFull ? 'at limit' : 'stored')
    },
  }
}

function revoke(user: string, { id, name }: Key): Act {
  const now = presentInstant()
  return {
    changes: { [`key ${id}`]: `${user} ${name} revoked ${now}` },
    async perform(store) {
      assert.equal(
        (await recordsOf(store).revokeApiKey(user, id, operatorAt(now)))?.revoked_at,
        now,
      )
    },
  }
}

const FIELDS = { name: 'Survival', edition: 'java', version: null, listing_kind: null }

function register(user: string): Act {
  const id = randomUUID()
  const now = presentInstant()
  const address = `${id}.example.com`
  const fields = { ...FIELDS, slug: id, address, status: 'draft', organization_id: null }
  return {
    changes: { [`server ${user} ${id}`]: `${address} draft ${now}` },
    async perform(store) {
      assert.equal(
        await recordsOf(store).insertServer(user, id, fields, operatorAt(now)),
        'written',
      )
    },
  }
}

/** Publishes a draft, or unpublishes a published server. */
function publish(content: Content, user: string, id: string): Act {
  const now = presentInstant()
  const name = `server ${user} ${id}`
  const [address = '', before] = content[name]!.split(' ')
  const status = before === 'published' ? 'draft' : 'published'
  return {
    changes: { [name]: `${address} ${status} ${now}` },
    async perform(store) {
      assert.equal(await setStatus(store.database, user, id, status, now), true)
    },
  }
}

function remove(user: string, id: string): Act {
  return {
    changes: { [`server ${user} ${id}`]: null },
    async perform(store) {
      assert.equal(await removeServer(store.database, user, id, presentInstant()), true)
    },
  }
}

/** Adds all these servers, or updates all of them, in one batch. */
function importServers(user: string): Act {
  const now = presentInstant()
  const entries = Array.from({ length: IMPORTED }, (_, index) => ({
    name: 'Survival',
    slug: `imported-${index}`,
    address: `imported-${index}.example.com`,
    updated_at: now,
  }))
  const changes = entries.map(({ slug, address }) => [
    `server ${user} ${slug}`,
    `${address} published ${now}`,
  ])
  return {
    changes: Object.fromEntries(changes) as Changes,
    async perform(store) {
      const { added, changed } = await recordsOf(store).saveServers(
        user,
        null,
        entries,
        operatorAt(now),
      )
      assert.equal(added + changed, IMPORTED)
    },
  }
}
