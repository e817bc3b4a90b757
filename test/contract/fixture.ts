import type { TestContext } from 'node:test'
import type { ServingStore, Store } from '../../src/database/store.ts'

/** What an engine provides so that the contract can test it. */
export interface StoreFixture {
  store: ServingStore
  /** A second store on the same data, as another process opens it. */
  openSecond(): Promise<Store>
  /** Moves the clock of the limit without waiting. */
  elapse(milliseconds: number): Promise<void>
  /** Makes reading the servers or the keys fail until the returned function is called. */
  breakServers(): Promise<() => Promise<void>>
  breakApiKeys(): Promise<() => Promise<void>>
  /** Inserts a row as another program would, without the store. */
  insertServerRow(row: ForeignServerRow): Promise<void>
  /** Runs SQL as another program would, without the store. Both engines must understand it. */
  execute(sql: string): Promise<void>
  /** Reads rows with such SQL. */
  read(sql: string): Promise<Record<string, unknown>[]>
  /** Bytes and an instant as the engine's SQL writes them. */
  literal: { bytes(hex: string): string; instant(instant: number): string }
}

export interface ForeignServerRow {
  id: string
  created_by: string
  name: string
  host_label: string
  updated_at: number
  status?: string
  edition?: string
}

/** Opens an empty store that lasts until the end of the test. */
export type OpenFixture = (t: TestContext) => Promise<StoreFixture>
