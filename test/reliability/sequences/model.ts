/*
 * What a database has, and what each act does to it. A key is alive if its row is there, no list
 * has its hash, and its owner is not disabled.
 */

export interface Rows {
  /** By id. */
  users: Map<string, { email: string; isDisabled: boolean }>
  /** By hash in hexadecimal. */
  keys: Map<string, { userId: string; isRevoked: boolean }>
}

/** A database or an archive: its rows, and the hashes of all keys that were revoked there. */
export interface Side {
  rows: Rows
  list: Set<string>
}

export function emptySide(): Side {
  return { rows: { users: new Map(), keys: new Map() }, list: new Set() }
}

export function copyOf({ rows, list }: Side): Side {
  return {
    rows: { users: copyOfMap(rows.users), keys: copyOfMap(rows.keys) },
    list: new Set(list),
  }
}

function copyOfMap<V extends object>(map: ReadonlyMap<string, V>): Map<string, V> {
  return new Map([...map].map(([key, value]) => [key, { ...value }]))
}

export function isAlive({ rows }: Side, hash: string): boolean {
  const key = rows.keys.get(hash)
  return key !== undefined && !key.isRevoked && !rows.users.get(key.userId)!.isDisabled
}

export function revoke(side: Side, hash: string): void {
  side.list.add(hash)
  const key = side.rows.keys.get(hash)
  if (key !== undefined) key.isRevoked = true
}

/** What a removal does first, in one transaction. */
export function endAccess(side: Side, userId: string): void {
  for (const [hash, key] of side.rows.keys) if (key.userId === userId) revoke(side, hash)
  const user = side.rows.users.get(userId)
  if (user !== undefined) user.isDisabled = true
}

/** Revokes the keys and then deletes everything. */
export function removeUser(side: Side, userId: string): void {
  for (const [hash, key] of side.rows.keys)
    if (key.userId === userId) {
      revoke(side, hash)
      side.rows.keys.delete(hash)
    }
  side.rows.users.delete(userId)
}

/** Uniting two lists applies them. */
export function unite(side: Side, list: ReadonlySet<string>): void {
  for (const hash of list) revoke(side, hash)
}

/** The rows of the archive, but what is revoked or disabled now stays so. */
export function restore(side: Side, archive: Side): void {
  const before = side.rows
  side.rows = copyOf(archive).rows
  for (const [id, user] of side.rows.users)
    if (before.users.get(id)?.isDisabled) user.isDisabled = true
  unite(side, new Set([...archive.list, ...side.list]))
}

/** Another file in the place of this one: only the journal beside it stays. */
export function replaceFile(side: Side, file: Side): void {
  side.rows = copyOf(file).rows
  unite(side, new Set([...file.list, ...side.list]))
}

/** The active keys of a user. */
export function activeKeys({ rows }: Side, userId: string): number {
  return [...rows.keys.values()].filter((key) => key.userId === userId && !key.isRevoked).length
}
