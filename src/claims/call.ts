import type { HeldListings, Claim } from '../model/claim.ts'
import type { AuthenticationFault, ListFault } from '../model/faults.ts'

/** One claim, as the queue hands it to an engine. */
export interface Call {
  keyHash: Uint8Array
  listings: HeldListings
}

/** A hash as the key of a map. */
export function hashText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}

/** Another session has locked or just changed the key's row. The engine left the key alone. */
export interface Busy {
  outcome: 'busy'
  apiKeyId: string
}

/** What the caller gets. */
export type Decided = Claim | AuthenticationFault | ListFault
/** What the queue gets from an engine. */
export type Outcome = Decided | Busy

/** A call in the queue. */
export interface Waiting extends Call {
  /** When the request arrived, in milliseconds. */
  since: number
  resolve(claim: Claim): void
  reject(fault: Error): void
  /** Set once the call was busy. The followers have the same key and share its outcome. */
  busy: { apiKeyId: string; followers: readonly Waiting[] } | null
}

/**
 * The outcome of a further call with the same key. The first one took the second; any other outcome
 * meets both.
 */
export function outcomeOfDuplicate<Kind extends Outcome>(first: Kind): Kind | Limited {
  return first instanceof Error || first.outcome !== 'granted'
    ? first
    : { outcome: 'limited', apiKeyId: first.apiKeyId }
}

type Limited = Extract<Claim, { outcome: 'limited' }>

/** The call and its followers, each by itself. */
export function callsOf(call: Waiting): Waiting[] {
  return call.busy === null ? [call] : [{ ...call, busy: null }, ...call.busy.followers]
}

/** The first call, with the others as its followers. */
export function asOne([first, ...followers]: readonly Waiting[], apiKeyId: string): Waiting {
  return { ...first!, busy: { apiKeyId, followers } }
}
