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
import type { Changes, Content, Key, Server } from '../model/content.ts'
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
  return Object.values(content.keys).flatMap(({ id, revokedAt }) =>
    revokedAt === null ? [id] : [],
  )
}

/** A random next act of a user or an operator. */
export function drawAct(random: Random, content: Content): Act {
  const users = Object.keys(content.users)
  if (users.length === 0 || (users.length < USERS_MAX && random.chance(0.1))) return registerUser()
  const user = random.pick(users)
  const keys = Object.values(content.keys).filter(
    ({ userId, revokedAt }) => userId === user && revokedAt === null,
  )
  const servers = registeredBy(content, user)
  const acts = [
    () => issue(user, keys.length),
    () => issue(user, keys.length),
    () => register(user),
    () => importServers(user),
    () => foundOrganization(content, user),
    ...(keys.length > 2 ? [() => revoke(random.pick(keys))] : []),
    ...(servers.length > 2
      ? [() => publish(random.pick(servers)), () => remove(random.pick(servers))]
      : []),
  ]
  return random.pick(acts)()
}

/** Servers registered one by one, whose slug is their id. */
function registeredBy(content: Content, user: string): Server[] {
  return Object.values(content.servers).filter(
    ({ userId, slug }) => userId === user && !slug.startsWith('imported'),
  )
}

const ENABLED = { externalId: null, disabledAt: null, bannedAt: null }

/** Adds a user together with a password. */
function registerUser(): Act {
  const user = createUser(`${randomUUID()}@example.com`)
  const password = `hash-${user.id}`
  return {
    changes: { users: { [user.id]: { ...ENABLED, email: user.email, password } } },
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

/** Makes an organization together with its owner; at the limit, checks that it is refused. */
function foundOrganization({ organizations }: Content, user: string): Act {
  const id = randomUUID()
  // Each has its founder only.
  const owned = Object.values(organizations).filter(({ userId }) => userId === user)
  const isFull = owned.length === ORGANIZATIONS_MAX
  return {
    changes: isFull ? {} : { organizations: { [id]: { userId: user, role: 'owner' } } },
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
  const name = `bot-${id}`
  const record = { id, user_id: user, name, prefix: prefixOf(key) }
  const apiKey = { ...record, created_at: presentInstant(), revoked_at: null, last_used_at: null }
  const isFull = active === ACTIVE_KEYS_MAX
  return {
    changes: isFull ? {} : changeOfKey({ id, userId: user, name, revokedAt: null }),
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

function changeOfKey(key: Key): Changes {
  return { keys: { [hashApiKey(keyOf(key.id)).toString('hex')]: key } }
}

function revoke(key: Key): Act {
  const now = presentInstant()
  return {
    changes: changeOfKey({ ...key, revokedAt: now }),
    async perform(store) {
      assert.equal(
        (await recordsOf(store).revokeApiKey(key.userId, key.id, operatorAt(now)))?.revoked_at,
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
    changes: changesOfServers([
      { userId: user, slug: id, address, status: 'draft', updatedAt: now },
    ]),
    async perform(store) {
      assert.equal(
        await recordsOf(store).insertServer(user, id, fields, operatorAt(now)),
        'written',
      )
    },
  }
}

function changesOfServers(servers: readonly Server[]): Changes {
  const named = servers.map((server) => [`${server.userId} ${server.slug}`, server] as const)
  return { servers: Object.fromEntries(named) }
}

/** Publishes a draft, or unpublishes a published server. */
function publish(server: Server): Act {
  const now = presentInstant()
  const status = server.status === 'published' ? 'draft' : 'published'
  return {
    changes: changesOfServers([{ ...server, status, updatedAt: now }]),
    async perform(store) {
      assert.equal(await setStatus(store.database, server.userId, server.slug, status, now), true)
    },
  }
}

function remove({ userId, slug }: Server): Act {
  return {
    changes: { servers: { [`${userId} ${slug}`]: null } },
    async perform(store) {
      assert.equal(await removeServer(store.database, userId, slug, presentInstant()), true)
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
  const servers = entries.map(({ slug, address }) => {
    return { userId: user, slug, address, status: 'published', updatedAt: now }
  })
  return {
    changes: changesOfServers(servers),
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
