import type { Belongings, InventoryStore } from '../../listing/accounts/inventory.ts'
import type { Database } from '../database.ts'
import { sql, uuid } from '../sql.ts'
import { ownedAlone } from './removed-user.ts'

export function inventory(database: Database): InventoryStore {
  return {
    async countBelongings(userId) {
      const user = uuid(userId)
      return (await database.get<Belongings>(sql`
        SELECT (SELECT count(*) FROM api_keys WHERE user_id = ${user} AND revoked_at IS NULL) AS api_keys,
          (SELECT count(*) FROM servers WHERE created_by = ${user}) AS servers,
          (SELECT count(*) FROM (${ownedAlone(userId)}) AS alone) AS organizations`))!
    },
  }
}
