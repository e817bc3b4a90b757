import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { presentInstant } from '../../../../src/model/instant.ts'
import type { ServerFields } from '../../../../src/servers/server.ts'
import { fields } from '../../../contract/people.ts'
import type { TestDashboard } from '../../../fixtures/dashboard.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'

/** Registers a server, published and personal unless `changed` says otherwise. */
export async function register(
  { store }: TestDashboard,
  userId: string,
  changed: Partial<ServerFields> = {},
): Promise<string> {
  const id = randomUUID()
  const written = await recordsOf(store).insertServer(
    userId,
    id,
    fields(changed),
    operatorAt(presentInstant()),
  )
  assert.equal(written, 'written')
  return id
}
