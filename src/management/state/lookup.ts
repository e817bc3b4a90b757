import type { User } from '../../listing/accounts/user.ts'
import type { StoredKey, StoredServer, StoredState } from '../../listing/state/state-store.ts'

/** The stored records by what a file calls them, so that a large file needs no search for each. */
export interface Lookup {
  usersByEmail: Map<string | null, User>
  usersById: Map<string, User>
  keysByHash: Map<string, StoredKey>
  keysById: Map<string, StoredKey>
  serversById: Map<string, StoredServer>
  keysOf(userId: string): readonly StoredKey[]
  serversOf(userId: string): readonly StoredServer[]
}

export function lookupIn({ users, keys, servers }: StoredState): Lookup {
  const keysOf = Map.groupBy(keys, ({ user_id }) => user_id)
  const serversOf = Map.groupBy(servers, ({ created_by }) => created_by)
  return {
    usersByEmail: new Map(users.map((user) => [user.email, user])),
    usersById: new Map(users.map((user) => [user.id, user])),
    keysByHash: new Map(keys.map((key) => [key.hash, key])),
    keysById: new Map(keys.map((key) => [key.id, key])),
    serversById: new Map(servers.map((server) => [server.id, server])),
    keysOf: (userId) => keysOf.get(userId) ?? [],
    serversOf: (userId) => serversOf.get(userId) ?? [],
  }
}
