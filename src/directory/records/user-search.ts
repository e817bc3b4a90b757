import { setImmediate as otherWork } from 'node:timers/promises'
import type { Instant } from '../../model/instant.ts'
import type { User } from '../../accounts/user.ts'
import { userColumns } from '../../accounts/records/user-columns.ts'
import type { Database } from '../../database/database.ts'
import { at, inUuids, raw, type Sql, sql, uuid } from '../../database/sql.ts'

/** Users on a page of an operator's search. */
export const USERS_PER_PAGE = 50
/** The users whom one page examines at most, and those whom one query does. */
export const USERS_EXAMINED = { max: 50_000, together: 5_000 }

/** A place in the order of users: the newest first, and by id within one instant. */
export interface UserPlace {
  created_at: Instant
  id: string
}

export interface FoundUser extends User {
  /** The user's active keys and servers. */
  apiKeys: number
  servers: number
}

export interface UserPage {
  users: FoundUser[]
  /** Where the next page begins. Null if there is none. */
  next: UserPlace | null
  /** False if the page ended after the most users that it examines. Older ones may match. */
  isFull: boolean
}

export function userSearch(database: Database, examined = USERS_EXAMINED) {
  const { dialect } = database

  /** The users of these ids, newest first. */
  async function listUsers(ids: readonly string[]): Promise<FoundUser[]> {
    return database.all<FoundUser>(sql`
      SELECT ${userColumns(dialect)},
        (SELECT count(*) FROM api_keys WHERE user_id = users.id AND revoked_at IS NULL) AS "apiKeys",
        (SELECT count(*) FROM servers WHERE created_by = users.id) AS servers
      FROM users WHERE id ${inUuids(ids)} ORDER BY users.created_at DESC, users.id DESC`)
  }

  /** The users whose address or id is exactly this. Three indexes find them. */
  async function findExact(text: string): Promise<string[]> {
    const found = await database.all<{ id: string }>(sql`
      SELECT id FROM users
      WHERE email = ${lowered(text)} OR external_id = ${text} OR id = ${uuid(lowered(text))}`)
    return found.map(({ id }) => id)
  }

  return {
    /**
     * Users whose address, external id or id has this text, the newest first from a place on. On
     * the first page those come first who have exactly this text. Empty text finds all users.
     */
    async searchUsers(text: string, from: UserPlace | null = null): Promise<UserPage> {
      const exact = text === '' ? [] : await findExact(text)
      const matches = text === '' ? sql`true` : contains(text, dialect.byBytes)
      const found: UserPlace[] = []
      let place = from
      let isFull = false
      for (let before = 0; before < examined.max; before += examined.together) {
        // Between two queries, other work gets its turn: SQLite runs one within the process.
        if (before > 0) await otherWork()
        const next = newest(place, examined.together)
        const rows = await database.all<UserPlace>(sql`
          SELECT id, ${dialect.instant('created_at')} FROM (${next}) AS page
          WHERE ${matches}
          ORDER BY page.created_at DESC, id DESC LIMIT ${USERS_PER_PAGE + exact.length + 1}`)
        found.push(...rows.filter(({ id }) => !exact.includes(id)))
        isFull = found.length > USERS_PER_PAGE
        if (isFull) break
        const last = await database.get<UserPlace>(sql`
          SELECT id, ${dialect.instant('created_at')} FROM (${next}) AS page
          ORDER BY page.created_at DESC, id DESC LIMIT 1 OFFSET ${examined.together - 1}`)
        place = last
        if (last === null) break
      }
      const shown = found.slice(0, USERS_PER_PAGE)
      const users = await listUsers(shown.map(({ id }) => id))
      return {
        users: from === null ? [...(await listUsers(exact)), ...users] : users,
        next: isFull ? shown.at(-1)! : place,
        isFull: isFull || place === null,
      }
    },
  }
}

/** The next users behind a place. An index has this order. */
function newest(from: UserPlace | null, usersMax: number): Sql {
  const behind =
    from === null ? sql`true` : sql`(created_at, id) < (${at(from.created_at)}, ${uuid(from.id)})`
  return sql`
    SELECT id, email, external_id, created_at FROM users WHERE ${behind}
    ORDER BY users.created_at DESC, users.id DESC LIMIT ${usersMax}`
}

/** Compares without case, of ASCII alone: no engine lowers other letters as the other one does. */
function contains(text: string, byBytes: Sql): Sql {
  const pattern = `%${lowered(text).replace(/[!%_]/g, '!$&')}%`
  const has = (column: string) => sql`lower(${raw(column)} ${byBytes}) LIKE ${pattern} ESCAPE '!'`
  return sql`(${has('email')} OR ${has('external_id')} OR ${has('CAST(id AS text)')})`
}

function lowered(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
