import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { ACTIVE_KEYS_MAX, generateKey, hashApiKey, prefixOf } from '../src/listing/api-key.ts'
import { formatInstant, presentInstant } from '../src/listing/instant.ts'
import { migrateSqlite } from '../src/sqlite/store.ts'

const OWNERS = 20_000
const SERVERS_PER_OWNER = 10

/**
 * Makes a database of owners with so many servers and five keys each, and returns the keys in random order; as the
 * benchmark wants them, 100,000. All values are of one length, so that all listings are of one size.
 */
export async function seed(
  path: string,
  owners = OWNERS,
  serversPerOwner = SERVERS_PER_OWNER,
): Promise<string[]> {
  await migrateSqlite(path)
  const database = new DatabaseSync(path)
  database.exec('BEGIN')
  const insertOwner = preparedOwner(database, serversPerOwner)
  const keys: string[] = []
  for (let owner = 0; owner < owners; owner += 1) keys.push(...insertOwner(owner))
  // On the disk when this returns, so that no writing of it goes on under the measurements.
  database.exec('COMMIT')
  database.close()
  return shuffled(keys)
}

function preparedOwner(
  database: DatabaseSync,
  serversPerOwner: number,
): (owner: number) => string[] {
  const insertUser = database.prepare(
    'INSERT INTO users (id, email, name, created_at, updated_at) VALUES (?1, ?2, ?2, ?3, ?3)',
  )
  const insertServer = database.prepare(`
    INSERT INTO servers (id, created_by, name, slug, host_label, edition, status, version, listing_kind, updated_at)
    VALUES (?, ?, ?, ?, ?, 'java', 'published', '1.21.4', 'server', ?)
  `)
  const insertKey = database.prepare(`
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, slot) VALUES (?, ?, ?, ?, ?, ?, ?)
  `)
  const now = presentInstant()
  const createdAt = formatInstant(now)

  return (owner) => {
    const userId = randomUUID()
    const number = String(owner).padStart(5, '0')
    insertUser.run(userId, `owner-${number}@example.com`, createdAt)
    for (let index = 0; index < serversPerOwner; index += 1) {
      const slug = `emerald-${number}-${index}`
      const host = `${slug}.example.net:25565`
      insertServer.run(
        randomUUID(),
        userId,
        `Emerald Hollow ${number}`,
        slug,
        host,
        now - index * 1_000_000,
      )
    }
    return Array.from({ length: ACTIVE_KEYS_MAX }, (_, index) => {
      const key = generateKey()
      const name = `bot ${index + 1}`
      insertKey.run(randomUUID(), userId, name, prefixOf(key), hashApiKey(key), now, index + 1)
      return key
    })
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  const result = [...items]
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1))
    ;[result[last], result[other]] = [result[other]!, result[last]!]
  }
  return result
}
