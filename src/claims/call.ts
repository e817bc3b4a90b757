import type { HeldListings, Claim } from '../model/claim.ts'
import type { AuthenticationFault, ListFault } from '../model/faults.ts'

/** One claim, as the queue hands it to an engine. No two of a batch have the same key. */
export interface Call {
  keyHash: Uint8Array
  listings: HeldListings
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

/** A request that waits for its claim. */
export interface Caller {
  /** When the request arrived, in milliseconds. */
  since: number
  /** True if it only asks whether the engine decides claims. */
  isProbe: boolean
  resolve(claim: Claim): void
  reject(fault: Error): void
}

/** A key in a batch, or a busy one, with all that wait for it. */
export interface Waiting extends Call {
  /** In order of arrival. The first one gets the engine's outcome. */
  callers: Caller[]
  /** The key's id, once it was busy. */
  busy: string | null
}

/** A hash as the key of a map. */
export function hashText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}

/** A call that no batch has yet. */
export interface Arrival extends Call, Caller {}
