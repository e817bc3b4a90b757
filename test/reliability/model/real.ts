import { randomUUID } from 'node:crypto'
import { type Answer, createAnswer } from '../../../src/api/answer.ts'
import { CLAIM_INTERVAL_US } from '../../../src/model/claim.ts'
import type { ServerEntry } from '../../../src/servers/server-entry.ts'
import type { ServingStore } from '../../../src/database/store.ts'
import { addUser, issueKey } from '../../fixtures/service.ts'
import type { Model } from './listing-model.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** An engine whose clock stands at `now`, in microseconds, until the test moves it. */
export interface Engine {
  store: ServingStore
  now(): number
  elapse(milliseconds: number): Promise<void>
  /** The count of each status. The model has not tested a status that never occurred. */
  answered: Map<number, number>
}

/** The service itself, with two new owners. */
export interface Real extends Engine {
  answer: Answer
  owners: string[]
  /** An organization of the first owner only. */
  organization: string
  faults: unknown[]
}

/** More than an answer shows, so that deleting one shows the next. */
const CROWD = 103

/** Adds two new owners with a key each. If `isCrowded`, the first one has many servers. */
export async function begin(
  engine: Engine,
  isCrowded: boolean,
): Promise<{ real: Real; model: Model }> {
  const { store } = engine
  const faults: unknown[] = []
  const answer = createAnswer({ store, onFault: (fault) => void faults.push(fault) })
  const owners: string[] = []
  const model: Model = { now: engine.now(), keys: [], servers: [] }
  for (const name of ['ada', 'bob']) {
    const user = await addUser(store, `${name}-${randomUUID()}@example.com`)
    owners.push(user.id)
    const issued = await issueKey(store, user)
    model.keys.push({ ...issued, owner: user.id, name: 'bot', revokedAt: null, lastUsedAt: null })
  }
  const organization = await recordsOf(store).ensureOrganization(
    randomUUID(),
    owners[0]!,
    operatorAt(presentInstant()),
  )
  if (isCrowded) await crowd(store, owners[0]!, model)
  return { real: { ...engine, answer, owners, organization, faults }, model }
}

/** Servers in pairs of the same age. */
async function crowd(store: ServingStore, owner: string, model: Model): Promise<void> {
  const entries: ServerEntry[] = Array.from({ length: CROWD }, (_, index) => ({
    name: 'one of many',
    address: `many${index}.example.com`,
    updated_at: model.now - CLAIM_INTERVAL_US - Math.floor(index / 2),
  }))
  await recordsOf(store).saveServers(owner, null, entries, operatorAt(model.now))
  for (const { organization: _, updated_at, ...server } of await recordsOf(store).listServers(
    owner,
  ))
    model.servers.push({ ...server, owner, organization_id: null, updatedAt: updated_at })
}
