import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { addOwner } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from './claim.ts'
import { NOW } from '../../fixtures/clock.ts'

/** An owner with a key, and what another program does with keys and the list of revoked hashes. */
export async function openForeign(open: OpenFixture, t: TestContext) {
  const fixture = await open(t)
  const { store, execute, read, literal } = fixture
  const { user, key, keyId } = await addOwner(store, 'ada@example.com')
  const hashed = (of: string) => literal.bytes(hashApiKey(of).toString('hex'))
  const later = literal.instant(NOW)
  return {
    ...fixture,
    user,
    key,
    keyId,
    hashed,
    later,
    insert: (of: string, { owner = user.id, revokedAt = 'NULL' } = {}) =>
      execute(`
        INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, revoked_at)
        VALUES ('${randomUUID()}', '${owner}', 'bot', '', ${hashed(of)}, ${literal.instant(0)}, ${revokedAt})`),
    list: (of: string) =>
      execute(`INSERT INTO revoked_hashes (key_hash, revoked_at) VALUES (${hashed(of)}, ${later})`),
    isListed: async (of: string) =>
      (await read(`SELECT 1 FROM revoked_hashes WHERE key_hash = ${hashed(of)}`)).length === 1,
    outcome: async (of: string) => (await claim(store, of)).outcome,
    /** Whether these keys are disabled, in the order of the keys. */
    disabled: async (...of: string[]) => {
      const isDisabled: boolean[] = []
      for (const one of of) {
        const [row] = await read(`SELECT disabled_at FROM api_keys WHERE key_hash = ${hashed(one)}`)
        isDisabled.push(row!.disabled_at !== null)
      }
      return isDisabled
    },
  }
}
