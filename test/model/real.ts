import { randomUUID } from 'node:crypto'
import { type Answer, createAnswer } from '../../src/api/answer.ts'
import { USE_INTERVAL } from '../../src/listing/api-key.ts'
import type { ServerEntry } from '../../src/listing/server-entry.ts'
import type { ServingStore } from '../../src/listing/store.ts'
import { addUser, issueKey } from '../fixtures/service.ts'
import type { Model } from './listing-model.ts'

/** An engine with a clock that the test moves, which stands at `now`, in microseconds. */
export interface Engine {
  store: ServingStore
  now(): number
  elapse(milliseconds: number): Promise<void>
  /** How often each status was answered: what never was, the model has not seen. */
  answered: Map<number, number>
}

/** The service itself, with two owners of its own. */
export interface Real extends Engine {
  answer: Answer
  owners: string[]
  /** One that the first owner is a member of, and the second is not. */
  organization: string
  faults: unknown[]
}

/** Where the clock of the tests begins. */
export const CLOCK_BEGIN = 1_800_000_000_000_000
/** A few more than an answer shows, so that those come back that were beyond its end. */
const CROWD = 103

/** Two owners nobody knew before with a key each, the first with many servers if it is to be crowded. */
export async function begin(
  engine: Engine,
  isCrowded: boolean,
): Promise<{ real: Real; model: Model }> {
  const { store } = engine
  const faults: unknown[] = []
  const answer = createAnswer({ store, onFault: (fault) => faults.push(fault) })
  const owners: string[] = []
  const model: Model = { now: engine.now(), keys: [], servers: [] }
  for (const name of ['ada', 'bob']) {
    const user = await addUser(store, `${name}-${randomUUID()}@example.com`)
    owners.push(user.id)
    const issued = await issueKey(store, user)
    model.keys.push({ ...issued, owner: user.id, name: 'bot', revokedAt: null, lastUsedAt: null })
  }
  const organization = await store.ensureOrganization(randomUUID(), owners[0]!)
  if (isCrowded) await crowd(store, owners[0]!, model)
  return { real: { ...engine, answer, owners, organization, faults }, model }
}

/** Two by two as old as each other. */
async function crowd(store: ServingStore, owner: string, model: Model): Promise<void> {
  const entries: ServerEntry[] = Array.from({ length: CROWD }, (_, index) => ({
    name: 'one of many',
    address: `many${index}.example.com`,
    updated_at: model.now - USE_INTERVAL - Math.floor(index / 2),
  }))
  await store.saveServers(owner, null, entries, model.now)
  for (const { organization: _, updated_at, ...server } of await store.listServers(owner))
    model.servers.push({ ...server, owner, organization_id: null, updatedAt: updated_at })
}
