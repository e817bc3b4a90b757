import { formatInstant, type Instant } from '../model/instant.ts'
import type { NamedUser } from '../accounts/user.ts'
import { jsonArray } from '../model/json-array.ts'
import { STATE_FORMAT_VERSION } from './state-fields.ts'
import type { StoredState } from './state-store.ts'
import { valuesOf } from '../servers/fields.ts'

/**
 * The text of a state file, made of parts. Equal states give equal texts, on both engines: records
 * are in the order of their ids, and keys in the order of their issue.
 */
export function createStateText(): { add(part: StoredState): void; end(): string[] } {
  const slugs = new Map<string, string>()
  const [organizations, users] = [createList(), createList()]
  return {
    add(part) {
      for (const { id, slug } of part.organizations) slugs.set(id, slug)
      organizations.add(organizationsOf(part))
      users.add(usersOf(part, slugs))
    },
    end: () => [
      `{\n  "format_version": ${STATE_FORMAT_VERSION},\n  "organizations": `,
      ...organizations.end(),
      ',\n  "users": ',
      ...users.end(),
      '\n}\n',
    ],
  }
}

function createList(): { add(records: readonly object[]): void; end(): string[] } {
  const array = jsonArray()
  const texts: string[] = []
  return {
    add: (records) => void texts.push(indent(array.add(records))),
    end: () => [...texts, indent(array.end().trimEnd())],
  }
}

const indent = (text: string) => text.replaceAll('\n', '\n  ')

function organizationsOf({ organizations, members }: StoredState): object[] {
  const membersOf = Map.groupBy(members, ({ organization_id }) => organization_id)
  return organizations.map(({ id, slug, name }) => ({
    id,
    slug,
    name,
    members: (membersOf.get(id) ?? []).map((member) => ({
      ...naming({ ...member, id: member.user_id }),
      role: member.role,
      joined_at: formatInstant(member.joined_at),
    })),
  }))
}

function naming({ id, external_id, email }: NamedUser): object {
  if (email !== null) return { email }
  return external_id === null ? { id } : { external_id }
}

function usersOf({ users, keys, servers }: StoredState, slugs: Map<string, string>): object[] {
  const keysOf = Map.groupBy(keys, ({ user_id }) => user_id)
  const serversOf = Map.groupBy(servers, ({ created_by }) => created_by)
  return users.map(({ id, external_id, email, created_at, disabled_at, banned_at }) => ({
    id,
    external_id,
    email,
    created_at: formatInstant(created_at),
    disabled_at: formatNullable(disabled_at),
    banned_at: formatNullable(banned_at),
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
      ...valuesOf(server),
      organization: server.organization_id === null ? null : slugs.get(server.organization_id)!,
      updated_at: formatInstant(server.updated_at),
    })),
  }))
}

const formatNullable = (instant: Instant | null) =>
  instant === null ? null : formatInstant(instant)
