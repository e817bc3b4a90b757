import { setTimeout as delay } from 'node:timers/promises'
import { presentInstant } from '../../../../src/model/instant.ts'
import type { Store } from '../../../../src/database/store.ts'
import { createUser } from '../../../../src/accounts/user.ts'
import { users } from '../../../../src/accounts/records/users.ts'
import { apiKeys } from '../../../../src/keys/records/api-keys.ts'
import { organizations } from '../../../../src/organizations/records/organizations.ts'
import { serverImports } from '../../../../src/servers/records/server-imports.ts'
import { issueKey } from '../../../fixtures/service.ts'
import { listInState } from './listing.ts'
import type { Incident, Operation } from '../record/record.ts'
import { recordActs } from './acts.ts'
import { operatorAt } from '../../../../src/model/audit.ts'

export interface Owner {
  name: string
  userId: string
  /** Number of personal servers. One owner has more than an answer shows. */
  size: number
  state: number
}

export interface Subject {
  /** Name of the key in the record. */
  name: string
  key: string
  id: string
  owner: Owner
}

/** Owners with lists and keys, and an operator who works on them. Everything is recorded. */
export interface Scene {
  operations: Operation[]
  /** Faults that have happened. */
  incidents: Incident[]
  owners: readonly Owner[]
  /** Every key so far. */
  subjects: Subject[]
  issue(owner: Owner): Promise<Subject>
  /** Repeats the revocation until it is acknowledged. */
  revoke(subject: Subject): Promise<void>
  change(owner: Owner): Promise<void>
  /** Ends the operator's work. Calls under way are rejected and nothing is repeated. */
  abandon(): void
}

const SIZES = { ada: 3, bob: 104, eve: 1 }

/** What the operator does, in this process or in another one. */
export interface Operator
  extends Pick<ReturnType<typeof users>, 'insertUser'>,
    Pick<ReturnType<typeof apiKeys>, 'listApiKeys' | 'revokeApiKey'>,
    Pick<ReturnType<typeof serverImports>, 'saveServers'>,
    Pick<ReturnType<typeof organizations>, 'ensureOrganization'> {
  issueKey(userId: string, name: string): Promise<{ key: string; id: string }>
}

export function operatorOf(store: Store): Operator {
  const { database } = store
  return {
    ...users(database),
    ...apiKeys(database),
    ...serverImports(database),
    ...organizations(database),
    issueKey: (userId, name) => issueKey(store, { id: userId }, name),
  }
}

export async function setScene(operator: Operator): Promise<Scene> {
  const operations: Operation[] = []
  const acts = recordActs(operations)
  const subjects: Subject[] = []
  let issued = 0

  async function issue(owner: Owner): Promise<Subject> {
    issued += 1
    const name = `k${issued}`
    for (;;) {
      const key = await acts.act('issue', { key: name, owner: owner.name, body: '' }, () =>
        operator.issueKey(owner.userId, name),
      )
      if (key === null) {
        await delay(50)
        if (!acts.isAbandoned()) await forget(operator, owner, name)
        continue
      }
      const subject = { name, ...key, owner }
      subjects.push(subject)
      return subject
    }
  }

  async function change(owner: Owner): Promise<void> {
    owner.state += 1
    const entries = listInState(owner.name, owner.state, owner.size)
    await acts.act('change', { key: '', owner: owner.name, body: `v${owner.state}` }, () =>
      operator.saveServers(owner.userId, null, entries, operatorAt(presentInstant())),
    )
  }

  async function revoke({ name, id, owner }: Subject): Promise<void> {
    for (;;) {
      const revoked = await acts.act('revoke', { key: name, owner: owner.name, body: '' }, () =>
        operator.revokeApiKey(owner.userId, id, operatorAt(presentInstant())),
      )
      if (revoked !== null) return
      await delay(50)
    }
  }

  const owners: Owner[] = []
  for (const [name, size] of Object.entries(SIZES)) {
    const owner = await addOwner(operator, name, size)
    owners.push(owner)
    await change(owner)
  }
  const { abandon } = acts
  return { operations, incidents: [], owners, subjects, issue, change, revoke, abandon }
}

async function addOwner(operator: Operator, name: string, size: number): Promise<Owner> {
  const user = createUser(`${name}@example.com`)
  await operator.insertUser(user, operatorAt(presentInstant()))
  // No answer may show these.
  const organization = await operator.ensureOrganization(
    'guild',
    user.id,
    operatorAt(presentInstant()),
  )
  const hidden = { name: 'hidden', address: `hidden.${name}.example.com` }
  await operator.saveServers(user.id, organization, [hidden], operatorAt(presentInstant()))
  return { name, userId: user.id, size, state: 0 }
}

/** A key that was issued but never acknowledged would keep its slot, so revoke it. */
async function forget(operator: Operator, owner: Owner, name: string): Promise<void> {
  const keys = await operator.listApiKeys(owner.userId).catch(() => [])
  for (const key of keys)
    if (key.name === name)
      await operator
        .revokeApiKey(owner.userId, key.id, operatorAt(presentInstant()))
        .catch(() => {})
}
