import pg from 'pg'
import type { Store, ServingStore } from '../../src/database/store.ts'
import { openServingPostgresStore } from '../../src/postgres/store.ts'
import type { ForeignServerRow, OpenFixture, StoreFixture } from './fixture.ts'

/** All tables with data, each before the tables that it refers to. */
const EMPTY = [
  'api_keys',
  'servers',
  'invitations',
  'members',
  'sessions',
  'passwords',
  'organizations',
  'users',
  'secrets',
  'sign_in_attempts',
  'audit_log',
  'usage_counts',
  'listing_revisions',
  'last_backup',
]
  .map((table) => `DELETE FROM ${table};`)
  .join(' ')

export interface SharedDatabase {
  open: OpenFixture
  close(): Promise<void>
}

/** Tests on one database, empty for each test, because creating one takes a quarter of a second. */
export function shareDatabase(create: () => Promise<string>): SharedDatabase {
  let opened: { url: string; other: pg.Client } | undefined
  const first = shareStore()
  // A serving store, too: a command waits half a second for a connection, and a busy machine may
  // need longer.
  const second = shareStore()

  async function openDatabase() {
    const url = await create()
    const other = new pg.Client(url)
    await other.connect()
    return { url, other }
  }

  return {
    async open() {
      opened ??= await openDatabase()
      const { url, other } = opened
      const store = await first.open(url)
      await other.query(EMPTY)
      return fixtureOf(other, store, () => second.open(url))
    },
    async close() {
      await opened?.other.end()
      await first.close()
      await second.close()
    },
  }
}

/** One store for all tests. If a test closes it, the next test opens another one. */
function shareStore() {
  let store: ServingStore | undefined
  return {
    async open(url: string): Promise<ServingStore> {
      store ??= await openServingPostgresStore(url)
      const { close } = store
      return {
        ...store,
        close() {
          store = undefined
          return close()
        },
      }
    },
    close: async () => store?.close(),
  }
}

function fixtureOf(
  other: pg.Client,
  store: ServingStore,
  openSecond: () => Promise<Store>,
): StoreFixture {
  return {
    store,
    openSecond,
    breakServers: () => rename(other, 'servers'),
    breakApiKeys: () => rename(other, 'api_keys'),

    /** The test can't move the database's clock, but it can move the stamps. */
    async elapse(milliseconds) {
      await other.query(
        `UPDATE api_keys SET last_used_at = last_used_at - $1 * interval '1 millisecond'`,
        [milliseconds],
      )
    },

    insertServerRow: (row) => insertServerRow(other, row),

    async execute(sql) {
      await other.query(sql)
    },

    read: async (sql) => (await other.query(sql)).rows,

    literal: {
      bytes: (hex) => `'\\x${hex}'::bytea`,
      instant: (instant) => `timestamptz 'epoch' + interval '${instant} microseconds'`,
    },
  }
}

async function rename(other: pg.Client, table: string): Promise<() => Promise<void>> {
  await other.query(`ALTER TABLE ${table} RENAME TO elsewhere`)
  return async () => {
    await other.query(`ALTER TABLE elsewhere RENAME TO ${table}`)
  }
}

async function insertServerRow(other: pg.Client, row: ForeignServerRow): Promise<void> {
  const { id, created_by, name, host_label, updated_at } = row
  const { status = 'published', edition = 'java' } = row
  await other.query(
    `INSERT INTO servers (id, created_by, name, host_label, edition, status, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, timestamptz 'epoch' + $7::bigint * interval '1 microsecond')`,
    [id, created_by, name, host_label, edition, status, updated_at],
  )
}
