import type { TestContext } from 'node:test'
import type { ServingStore, Store } from '../../src/listing/store.ts'

/** What an engine has to provide for the contract to be tested on it. */
export interface StoreFixture {
  store: ServingStore
  /** A second store on the same data, as another process would open it for a command. */
  openSecond(): Promise<Store>
  /** Lets time pass for the limit, without waiting for it. */
  elapse(milliseconds: number): Promise<void>
  /** Makes reading the servers, or the keys, fail until the returned function is called. */
  breakServers(): Promise<() => Promise<void>>
  breakApiKeys(): Promise<() => Promise<void>>
  /** Rows as another program writes them, past the store. */
  insertServerRow(row: ForeignServerRow): Promise<void>
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

export type OpenFixture = (t: TestContext) => Promise<StoreFixture>
