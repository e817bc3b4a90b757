import type { Content } from '../model/content.ts'

/*
 * What a database has, and what each act does to it. A key is alive if its row is there, no list
 * has its hash, and its owner is neither disabled nor banned.
 */

export interface User {
  /** Null for a user whom the site removed and an operator has disabled. */
  email: string | null
  /** Of a site's user. */
  externalId: string | null
  /** By an operator. */
  isDisabled: boolean
  /** By the site. */
  isBanned: boolean
  /** The address of the one server. */
  server: string | null
}

/** What a sequence knows of the rows: it names no instant. */
export interface Rows {
  /** By id. */
  users: Record<string, User>
  /** By hash in hexadecimal. */
  keys: Record<string, { userId: string; isRevoked: boolean }>
}

/** A database or an archive: its rows, and the hashes of all keys that were revoked there. */
export interface Side {
  rows: Rows
  list: Set<string>
}

export function emptySide(): Side {
  return { rows: { users: {}, keys: {} }, list: new Set() }
}

/** The users, servers and keys of a database. */
export function rowsOf({ users, keys, servers }: Content): Rows {
  const addresses = new Map(Object.values(servers).map((one) => [one.userId, one.address]))
  return {
    users: Object.fromEntries(
      Object.entries(users).map(([id, { email, externalId, disabledAt, bannedAt }]) => [
        id,
        {
          email,
          externalId,
          isDisabled: disabledAt !== null,
          isBanned: bannedAt !== null,
          server: addresses.get(id) ?? null,
        },
      ]),
    ),
    keys: Object.fromEntries(
      Object.entries(keys).map(([hash, { userId, revokedAt }]) => [
        hash,
        { userId, isRevoked: revokedAt !== null },
      ]),
    ),
  }
}

export function isAlive({ rows }: Side, hash: string): boolean {
  const key = rows.keys[hash]
  if (key === undefined || key.isRevoked) return false
  return hasAccess(rows.users[key.userId]!)
}

export const hasAccess = ({ isDisabled, isBanned }: User): boolean => !isDisabled && !isBanned

export function revoke(side: Side, hash: string): void {
  side.list.add(hash)
  const key = side.rows.keys[hash]
  if (key !== undefined) key.isRevoked = true
}

/** What a removal does first, in one transaction. */
export function endAccess(side: Side, userId: string): void {
  for (const [hash, key] of Object.entries(side.rows.keys))
    if (key.userId === userId) revoke(side, hash)
  const user = side.rows.users[userId]
  if (user !== undefined) user.isDisabled = true
}

/** Revokes the keys and then deletes everything. */
export function removeUser(side: Side, userId: string): void {
  for (const [hash, key] of Object.entries(side.rows.keys))
    if (key.userId === userId) {
      revoke(side, hash)
      delete side.rows.keys[hash]
    }
  delete side.rows.users[userId]
}

/** Uniting two lists applies them. */
export function unite(side: Side, list: ReadonlySet<string>): void {
  for (const hash of list) revoke(side, hash)
}

/** The rows of the archive, but what is revoked, disabled or banned now stays so. */
export function restore(side: Side, archive: Side): void {
  const before = side.rows
  side.rows = structuredClone(archive.rows)
  for (const [id, user] of Object.entries(side.rows.users)) {
    user.isDisabled ||= before.users[id]?.isDisabled ?? false
    user.isBanned ||= before.users[id]?.isBanned ?? false
  }
  unite(side, new Set([...archive.list, ...side.list]))
}

/** Another file in the place of this one: only the journal beside it stays. */
export function replaceFile(side: Side, file: Side): void {
  side.rows = structuredClone(file.rows)
  unite(side, new Set([...file.list, ...side.list]))
}

/** The active keys of a user. */
export function activeKeys({ rows }: Side, userId: string): number {
  return Object.values(rows.keys).filter((key) => key.userId === userId && !key.isRevoked).length
}
