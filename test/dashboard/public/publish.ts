import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { presentInstant } from '../../../src/listing/instant.ts'
import type { ServerFields } from '../../../src/listing/servers/registered-server.ts'
import type { TestDashboard } from '../../fixtures/dashboard.ts'

export const FIELDS: ServerFields = {
  name: 'Survival',
  slug: null,
  address: 'play.example.com',
  edition: 'java',
  status: 'published',
  version: null,
  listing_kind: null,
  organization_id: null,
}

/** Registers a server, published and personal unless `changed` says otherwise. */
export async function register(
  { store }: TestDashboard,
  userId: string,
  changed: Partial<ServerFields> = {},
): Promise<string> {
  const id = randomUUID()
  const fields = { ...FIELDS, ...changed }
  assert.equal(await store.insertServer(userId, id, fields, presentInstant()), 'written')
  return id
}
