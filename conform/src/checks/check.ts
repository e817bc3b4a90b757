import type { Kit } from '../kit.ts'

/** A group of checks about one subject. */
export interface Check {
  /** For the line that shows progress. */
  name: string
  /** The requests that it sends if nothing has to be repeated. `burst` is that of the kit. */
  requests(burst: number): number
  /** How often it waits for the second of a key. */
  grants: number
  /** True if it says nothing about a key that never gets a 200. */
  needsGrants?: true
  run(kit: Kit): Promise<void>
}
