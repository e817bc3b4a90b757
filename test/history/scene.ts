import { setTimeout as delay } from 'node:timers/promises'
import { presentInstant } from '../../src/listing/instant.ts'
import type { Store } from '../../src/listing/store.ts'
import { addUser, issueKey } from '../fixtures/service.ts'
import { listInState } from './listing.ts'
import { now, type Operation } from './record.ts'

export interface Owner {
  name: string
  userId: string
  /** How many personal servers; more than are shown, for one of them. */
  size: number
  state: number
}

export interface Subject {
  /** What the record calls the key. */
  name: string
  key: string
  id: string
  owner: Owner
}

/** Owners with lists and keys, and the operator's work on them, all of it recorded. */
export interface Scene {
  operations: Operation[]
  owners: readonly Owner[]
  /** Every key there ever was. */
  subjects: Subject[]
  issue(owner: Owner): Promise<Subject>
  /** Again and again until it is acknowledged. */
  revoke(subject: Subject): Promise<void>
  change(owner: Owner): Promise<void>
}

const SIZES = { ada: 3, bob: 104, eve: 1 }

export type Operator = Pick<
  Store,
  | 'insertUser'
  | 'insertApiKey'
  | 'listApiKeys'
  | 'revokeApiKey'
  | 'saveServers'
  | 'ensureOrganization'
>

export async function setScene(operator: Operator): Promise<Scene> {
  const operations: Operation[] = []
  const owners: Owner[] = []
  const subjects: Subject[] = []
  let issued = 0

  /** Does something as the operator; where it fails, nobody knows whether it was done. */
  async function work<T>(
    operation: Operation['operation'],
    rest: Pick<Operation, 'key' | 'owner' | 'body'>,
    body: () => Promise<T>,
  ): Promise<T | null> {
    const t0 = now()
    const done = await body().catch(() => null)
    const status = done === null ? 0 : 200
    operations.push({ operation, ...rest, t0, t1: now(), status, connection: 0, place: 0 })
    return done
  }

  async function issue(owner: Owner): Promise<Subject> {
    issued += 1
    const name = `k${issued}`
    for (;;) {
      const key = await work('issue', { key: name, owner: owner.name, body: '' }, () =>
        issueKey(operator as Store, { id: owner.userId, email: '', created_at: 0 }, name),
      )
      if (key === null) {
        await forget(owner, name)
        continue
      }
      const subject = { name, ...key, owner }
      subjects.push(subject)
      return subject
    }
  }

  /** A key that was issued and lost on the way would keep its place for ever. */
  async function forget(owner: Owner, name: string): Promise<void> {
    await delay(50)
    const keys = await operator.listApiKeys(owner.userId).catch(() => [])
    for (const key of keys)
      if (key.name === name)
        await operator.revokeApiKey(owner.userId, key.id, presentInstant()).catch(() => {})
  }

  async function change(owner: Owner): Promise<void> {
    owner.state += 1
    const entries = listInState(owner.name, owner.state, owner.size)
    await work('change', { key: '', owner: owner.name, body: `v${owner.state}` }, () =>
      operator.saveServers(owner.userId, null, entries, presentInstant()),
    )
  }

  for (const [name, size] of Object.entries(SIZES)) {
    const user = await addUser(operator as Store, `${name}@example.com`)
    const owner = { name, userId: user.id, size, state: 0 }
    owners.push(owner)
    // Not to be seen in any answer.
    const organization = await operator.ensureOrganization('guild', user.id)
    const hidden = { name: 'hidden', address: `hidden.${name}.example.com` }
    await operator.saveServers(user.id, organization, [hidden], presentInstant())
    await change(owner)
  }

  return {
    operations,
    owners,
    subjects,
    issue,
    change,
    async revoke({ name, id, owner }) {
      for (;;) {
        const revoked = await work('revoke', { key: name, owner: owner.name, body: '' }, () =>
          operator.revokeApiKey(owner.userId, id, presentInstant()),
        )
        if (revoked !== null) return
        await delay(50)
      }
    },
  }
}
