import type { PublishedServerStore } from '../../listing/servers/published-server.ts'
import { type ServerRow, toServer } from '../../listing/servers/server.ts'
import type { Database } from '../database.ts'
import { sql, uuid } from '../sql.ts'
import { ROW } from './server-lists.ts'

export function publishedServers(database: Database): PublishedServerStore {
  return {
    async findPublishedServer(id) {
      const row = await database.get<ServerRow>(sql`
        SELECT ${ROW} FROM servers
        WHERE id = ${uuid(id)} AND status = 'published' AND organization_id IS NULL
          AND EXISTS (SELECT 1 FROM users WHERE users.id = created_by AND disabled_at IS NULL)`)
      return row === null ? null : toServer(row)
    },
  }
}
