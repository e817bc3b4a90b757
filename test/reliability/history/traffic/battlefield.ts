import type { Listening } from './connection.ts'
import type { Fault } from '../faults/fault.ts'
import type { Random } from '../../../fixtures/random.ts'
import type { Operator, Scene } from './scene.ts'
import type { StoreRecord } from '../record/sqlite-record.ts'

/** The services, operator and faults of one run. */
export interface Battlefield {
  engine: string
  operator: Operator
  port(random: Random): Listening | null
  /** Faults of one group happen one after the other. Different groups run at the same time. */
  groups: readonly Readonly<Record<string, Fault>>[]
  /** Faults that last this many milliseconds. A run has one of them, alone. */
  staying(ms: number): Readonly<Record<string, Fault>>
  readRecord(scene: Scene): Promise<StoreRecord>
}
