import { formatInstant, type Instant } from '../instant.ts'
import { STATE_FORMAT_VERSION } from './declared-state.ts'
import type { StoredState } from './state-store.ts'

/**
 * The state as a file has it. Equal states give equal objects, on both engines: records are in the
 * order of their email addresses, slugs and ids, and keys in the order of their issue.
 */
export function stateJson({ users, organizations, members, servers, keys }: StoredState): object {
  const emails = new Map(users.map(({ id, email }) => [id, email]))
  const slugs = new Map(organizations.map(({ id, slug }) => [id, slug]))
  const membersOf = Map.groupBy(members, ({ organization_id }) => organization_id)
  const keysOf = Map.groupBy(keys, ({ user_id }) => user_id)
  const serversOf = Map.groupBy(servers, ({ created_by }) => created_by)
  return {
    format_version: STATE_FORMAT_VERSION,
    organizations: organizations.map(({ id, slug, name }) => ({
      id,
      slug,
      name,
      members: (membersOf.get(id) ?? [])
        .map(({ user_id, role, joined_at }) => ({
          email: emails.get(user_id)!,
          role,
          joined_at: formatInstant(joined_at),
        }))
        .toSorted((one, other) => (one.email < other.email ? -1 : 1)),
    })),
    users: users.map(({ id, email, created_at }) => ({
      id,
      email,
      created_at: formatInstant(created_at),
      keys: (keysOf.get(id) ?? []).map((key) => ({
        id: key.id,
        name: key.name,
        key_hash: key.hash,
        prefix: key.prefix,
        created_at: formatInstant(key.created_at),
        revoked_at: formatNullable(key.revoked_at),
        last_used_at: formatNullable(key.last_used_at),
      })),
      servers: (serversOf.get(id) ?? []).map((server) => ({
        id: server.id,
        name: server.name,
        slug: server.slug,
        address: server.address,
        edition: server.edition,
        status: server.status,
        version: server.version,
        listing_kind: server.listing_kind,
        organization: server.organization_id === null ? null : slugs.get(server.organization_id)!,
        updated_at: formatInstant(server.updated_at),
      })),
    })),
  }
}

const formatNullable = (instant: Instant | null) =>
  instant === null ? null : formatInstant(instant)
