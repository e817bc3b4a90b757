import { type ServerRow, toServer, type Server } from '../../model/server-row.ts'
import type { Database } from '../../database/database.ts'
import { sql, uuid } from '../../database/sql.ts'
import { ROW } from './server-lists.ts'

export function publishedServers(database: Database) {
  return {
    /**
     * A personal server whose status is `published`. Null for every other text, with the same
     * single lookup: an unknown or malformed id, another status, an organization's server.
     */
    async findPublishedServer(id: string): Promise<Server | null> {
      const row = await database.get<ServerRow>(sql`
        SELECT ${ROW} FROM servers
        WHERE id = ${uuid(id)} AND status = 'published' AND organization_id IS NULL
          AND EXISTS (SELECT 1 FROM users WHERE users.id = created_by AND disabled_at IS NULL)`)
      return row === null ? null : toServer(row)
    },
  }
}
