import pg, { type ClientBase } from 'pg'
import { AuthenticationFault, ListFault } from '../listing/faults.ts'
import type { ServerRow } from '../listing/server.ts'
import type { Recall, Use } from '../listing/store.ts'
import {
  CLAMP,
  EPOCH,
  JUDGE,
  type JudgedRow,
  NO_REVISION,
  USE,
  type UsedRow,
} from './use-statements.ts'

/** One `useApiKey` call, as it waits for its batch. */
export interface Call {
  keyHash: Uint8Array
  recall: Recall
}

export type Outcome = Use | AuthenticationFault | ListFault

/**
 * Whose each key was when it was last used, so that what is remembered of the owner can be sent along with the key. A
 * mistake would cost a reading of the list and nothing else: no two owners' listings share a revision.
 */
export interface OwnersByKey {
  of(keyHash: Uint8Array): string | undefined
  learn(keyHash: Uint8Array, userId: string): void
}

/** Keys whose owner is known at a time: some 100 bytes each. */
const OWNERS_MAX = 1_000_000

export function createOwnersByKey(ownersMax = OWNERS_MAX): OwnersByKey {
  const owners = new Map<number, string>()
  return {
    of: (keyHash) => owners.get(shortOf(keyHash)),
    learn(keyHash, userId) {
      // The oldest goes.
      if (owners.size >= ownersMax) owners.delete(owners.keys().next().value!)
      owners.set(shortOf(keyHash), userId)
    },
  }
}

/** The first 48 bits as a number, which a map keeps in a third of the room of the whole. */
function shortOf(keyHash: Uint8Array): number {
  return bytesOf(keyHash).readUIntBE(0, 6)
}

function textOf(keyHash: Uint8Array): string {
  return bytesOf(keyHash).toString('latin1')
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/**
 * The act of spec 5.2, steps 3 to 6, for the calls that arrived together, as one statement. Of several calls with one
 * key only the first is asked for; the others share its fate. Throws the statement's error, if there is one.
 */
export async function useTogether(
  client: ClientBase,
  owners: OwnersByKey,
  calls: readonly Call[],
): Promise<Outcome[]> {
  const places = new Map<string, number>()
  const asked: Call[] = []
  const placeOf = calls.map((call) => {
    const key = textOf(call.keyHash)
    const known = places.get(key)
    if (known !== undefined) return known
    places.set(key, asked.length)
    asked.push(call)
    return asked.length - 1
  })
  const outcomes = await use(client, owners, asked)
  const taken = new Set<number>()
  return placeOf.map((place) => {
    const outcome = outcomes[place]!
    const isFirst = !taken.has(place)
    taken.add(place)
    return isFirst || outcome instanceof Error || outcome.outcome !== 'used'
      ? outcome
      : { outcome: 'too soon', apiKeyId: outcome.apiKeyId }
  })
}

async function use(
  client: ClientBase,
  owners: OwnersByKey,
  asked: readonly Call[],
): Promise<Outcome[]> {
  const hashes = asked.map(({ keyHash }) => keyHash)
  const remembered = asked.map(({ keyHash, recall }) => {
    const owner = owners.of(keyHash)
    return owner === undefined ? null : recall(owner)
  })
  const { rows } = await client.query({
    name: 'use-api-keys',
    text: USE,
    values: [hashes, remembered],
    rowMode: 'array',
  })
  return readOutcomes(client, owners, hashes, rows as unknown as UsedRow[])
}

async function readOutcomes(
  client: ClientBase,
  owners: OwnersByKey,
  hashes: readonly Uint8Array[],
  rows: readonly UsedRow[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = hashes.map(() => ({ outcome: 'unknown' }))
  const ahead: Uint8Array[] = []
  let isHeldOff = false
  for (const [n, verdict, apiKeyId, userId, revision, isSame, ...server] of rows) {
    const before = outcomes[n - 1]!
    switch (verdict) {
      case 'used':
        if (!(before instanceof Error) && before.outcome === 'used')
          before.rows?.push(toRow(server))
        else {
          const listed = isSame ? null : server[0] === null ? [] : [toRow(server)]
          if (listed !== null) owners.learn(hashes[n - 1]!, userId)
          outcomes[n - 1] = {
            outcome: 'used',
            apiKeyId,
            userId,
            revision: revision ?? NO_REVISION,
            rows: listed,
          }
        }
        break
      case 'revoked':
        outcomes[n - 1] = { outcome: 'revoked', apiKeyId }
        break
      case 'held off':
        isHeldOff = true
        outcomes[n - 1] = new AuthenticationFault(
          'held off for a second: uses may have been lost in a crash',
        )
        break
      case 'ahead':
        ahead.push(hashes[n - 1]!)
        outcomes[n - 1] = { outcome: 'too soon', apiKeyId }
        break
      case 'too soon':
        outcomes[n - 1] = { outcome: 'too soon', apiKeyId }
    }
  }
  if (isHeldOff) await client.query(EPOCH)
  if (ahead.length > 0) await client.query(CLAMP, [ahead])
  return outcomes
}

/**
 * What can be said after `useTogether` threw, and so, as far as is known, changed nothing: was it the keys that could
 * not be read, or the servers? Never throws.
 */
export async function judgeTogether(
  client: ClientBase,
  calls: readonly Call[],
  cause: unknown,
): Promise<Outcome[]> {
  try {
    // Without an answer of the server's there is nobody to ask.
    if (!(cause instanceof pg.DatabaseError)) throw cause
    const hashes = calls.map(({ keyHash }) => keyHash)
    const { rows } = await client.query({ text: JUDGE, values: [hashes], rowMode: 'array' })
    const outcomes: Outcome[] = hashes.map(() => ({ outcome: 'unknown' }))
    for (const [n, apiKeyId, isRevoked, isTooSoon] of rows as unknown as JudgedRow[]) {
      if (isRevoked) outcomes[n - 1] = { outcome: 'revoked', apiKeyId }
      else if (isTooSoon) outcomes[n - 1] = { outcome: 'too soon', apiKeyId }
      else outcomes[n - 1] = new ListFault('the servers could not be read', { cause })
    }
    return outcomes
  } catch {
    const fault = new AuthenticationFault('keys could not be looked up or their use not recorded', {
      cause,
    })
    return calls.map(() => fault)
  }
}

function toRow(server: readonly (string | null)[]): ServerRow {
  const [id, name, slug, host_label, edition, status, version, listing_kind] = server
  return { id, name, slug, host_label, edition, status, version, listing_kind } as ServerRow
}
