import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ServingStore } from '../../../src/database/store.ts'
import type { ServerRow } from '../../../src/model/server-row.ts'
import { migratePostgres } from '../../../src/postgres/store.ts'
import { claim } from '../../contract/keys/claim.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { addOwner } from '../../fixtures/service.ts'
import { openStore } from '../claims/outcomes.ts'

/** An owner whose listing is cached by a service, as between two requests. */
export interface Reader {
  userId: string
  /** The names in the answer to the owner's next request, in their order. */
  names(): Promise<string[]>
  /** The same owner and key on another service, whose database knows the key. */
  openOn(t: TestContext, url: string): Promise<Reader>
}

/** Opens a service on the database, with an owner who has one server per name. */
export async function openReader(
  t: TestContext,
  url: string,
  email: string,
  names: readonly string[] = [],
): Promise<Reader> {
  await migratePostgres(url)
  const store = await openStore(t, url)
  const entries = names.map((name) => ({ name, address: `${name}.example.com` }))
  const { user, key } = await addOwner(store, email, entries)
  return readerOf(store, url, user.id, key)
}

function readerOf(store: ServingStore, url: string, userId: string, key: string): Reader {
  let held: { revision: string | null; rows: readonly ServerRow[] } = { revision: null, rows: [] }
  return {
    userId,
    openOn: async (t, other) => readerOf(await openStore(t, other), other, userId, key),
    async names() {
      await asAdmin(url, (client) => client.query('UPDATE api_keys SET last_used_at = NULL'))
      const used = await claim(store, key, held.revision)
      assert.ok(used.outcome === 'granted')
      if (used.rows !== null) held = { revision: used.revision, rows: used.rows }
      return held.rows.map(({ name }) => name)
    },
  }
}

/** The URL of an installation in a new schema of its own. */
export async function installIn(url: string, schema: string): Promise<string> {
  await asAdmin(url, (client) => client.query(`CREATE SCHEMA ${schema}`))
  const own = `${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`
  await migratePostgres(own)
  return own
}
