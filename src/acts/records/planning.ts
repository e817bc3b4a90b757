import type { Instant } from '../../model/instant.ts'
import { createOrderedIds } from '../../database/ordered-ids.ts'
import type { Organization } from '../../organizations/organization.ts'
import type { PlacedServer } from '../../servers/plan.ts'
import {
  ACTS,
  type ActName,
  type ActsAnswer,
  type Complaint,
  type Document,
  type Hand,
  type Named,
  type Reason,
  type Refused,
  type RowOf,
} from '../document.ts'
import { type UserFinder, userFinder } from '../find-user.ts'
import type { SiteUser } from '../user.ts'
import { createDraft, type Draft } from './draft.ts'
import type { Stored, StoredKey, StoredMember } from './stored.ts'

export interface PlanOptions {
  hand: Hand
  now: Instant
  /** Whether OPERATORS has this address, which no site's user gets. */
  isOperator?(email: string): boolean
  /** What the document is a part of. */
  whole?: Whole
}

/** A document in parts. */
export interface Whole {
  /** Where its servers go: an organization, or null. Undefined: they stay. */
  servers: ReadonlyMap<string, string | null | undefined>
  /** The organizations that other parts make, if none is done yet. */
  made: ReadonlySet<string>
  /** The addresses of OPERATORS. */
  operators: readonly string[]
}

type Done = 'added' | 'changed' | 'removed' | 'revoked' | 'banned' | null

/**
 * What an operator is told of a row instead of the reason, with its field. Only an operator's row
 * can have a mistake.
 */
export type Refuse = (reason: Reason | 'mistake', field?: string, told?: string) => void

type EachRow<Act extends ActName> = (
  row: RowOf<Act>,
  user: SiteUser | null,
  refuse: Refuse,
  count: (what: Done) => void,
) => void

/** What a document is planned with: the rows that it means, as the acts change them. */
export interface Planning extends PlanOptions {
  document: Document
  users: Draft<SiteUser>
  /** By slug. */
  organizations: Draft<Organization>
  members: Draft<StoredMember>
  putMember(member: StoredMember): 'added' | 'changed' | null
  removeMember(member: StoredMember): boolean
  /** The owners of an organization, by their ids. */
  ownersOf(slug: string): Map<string, StoredMember>
  servers: Draft<PlacedServer>
  keys: Draft<StoredKey>
  revocations: Stored['revocations']
  finder: UserFinder
  /** The user's row as it has become. */
  find(row: Named): SiteUser | null
  hasOrganization(slug: string): boolean
  organizationId(slug: string): string
  /** Whether a site may touch what this user has. */
  isOurs(userId: string): boolean
  /** Does each row of an act, with the user whom it names. */
  each<Act extends ActName>(act: Act, body: EachRow<Act>, rows?: readonly RowOf<Act>[]): void
  count(act: ActName, what: Done): void
  answer: ActsAnswer
  /** The mistakes of an operator's document. */
  complaints: Complaint[]
  makeId(): string
  /** Servers that have the instant of the document. */
  dated: Set<string>
  /** Keys that the document has as active ones and that stay revoked. */
  keptRevoked: StoredKey[]
  /** Users who go, and those whom an operator has disabled: they lose all that they have. */
  removed: Map<string, SiteUser>
  emptied: SiteUser[]
  /** What a site wanted that is an operator's, by the user's id. */
  denied: [userId: string, what: 'mail address' | 'key'][]
  operators: Stored['operators']
  /** The places of put_users, by the ids of the users. */
  places: Map<string, string>
}

/** What an operator reads instead of a reason. */
const TOLD: Partial<Record<Reason | 'mistake', string>> = {
  'address of an operator': 'is an address of OPERATORS, which no user of a site gets',
  'address taken': 'is the address of another user',
  'has servers': 'has servers: remove or move them first',
  'of another account': 'is of another user',
  'last owner': 'would leave the organization without an owner',
  'no such organization': 'names no organization here',
  'no such user': 'names no user here; put the user first',
}

export const memberKey = ({ slug, user_id }: { slug: string; user_id: string }) =>
  `${slug} ${user_id}`

export function createPlanning(document: Document, stored: Stored, options: PlanOptions): Planning {
  const { hand, whole } = options
  const organizations = createDraft(stored.organizations, ({ slug }) => slug)
  const users = createDraft(stored.users, ({ id }) => id)
  const finder = userFinder(stored.users, hand)
  const answer = emptyAnswer(document)
  const complaints: Complaint[] = []
  const find = (row: Named) => users.get(finder.find(row)?.id ?? '')
  const count = (act: ActName, what: Done) => {
    if (what !== null) answer[act]![what] = (answer[act]![what] as number) + 1
  }
  return {
    ...options,
    document,
    users,
    organizations,
    ...createMembers(stored),
    servers: createDraft(stored.servers, ({ id }) => id),
    keys: createDraft(stored.keys, ({ hash }) => hash),
    revocations: stored.revocations,
    operators: stored.operators,
    finder,
    find,
    hasOrganization: (slug) =>
      organizations.get(slug) !== null ||
      (organizations.stored(slug) === null &&
        (stored.places.has(slug) || whole?.made.has(slug) === true)),
    organizationId: (slug) => organizations.get(slug)?.id ?? stored.places.get(slug)!,
    isOurs: (userId) => hand === 'operator' || (users.get(userId)?.external_id ?? null) !== null,
    each(act, body, rows = document[act] as RowOf<typeof act>[] | undefined) {
      for (const row of rows ?? [])
        body(
          row,
          find(row as Named),
          (reason, field, message = TOLD[reason] ?? reason) => {
            const { place, row: number } = row
            if (hand === 'operator')
              complaints.push({ place: field ? `${place}.${field}` : place, message })
            else answer[act]!.refused.push({ row: number, ...called(act, row), reason } as Refused)
          },
          (what) => count(act, what),
        )
    },
    count,
    answer,
    complaints,
    makeId: createOrderedIds(),
    dated: new Set(),
    keptRevoked: [],
    removed: new Map(),
    emptied: [],
    denied: [],
    places: new Map(),
  }
}

/** Members, with the owners among them. */
function createMembers(stored: Stored) {
  const members = createDraft(stored.members, memberKey)
  const owners = new Map<string, Map<string, StoredMember>>()
  const ownersOf = (slug: string) => {
    const known = owners.get(slug) ?? new Map<string, StoredMember>()
    owners.set(slug, known)
    return known
  }
  const own = (member: StoredMember) => {
    if (member.role === 'owner') ownersOf(member.slug).set(member.user_id, member)
    else ownersOf(member.slug).delete(member.user_id)
  }
  stored.members.forEach(own)
  return {
    members,
    ownersOf,
    putMember(member: StoredMember) {
      own(member)
      return members.put(member)
    },
    removeMember(member: StoredMember) {
      ownersOf(member.slug).delete(member.user_id)
      return members.remove(memberKey(member))
    },
  }
}

type Counts = Record<string, Record<string, unknown> & { refused: Refused[] }>

function emptyAnswer(document: Document): Counts {
  const answer: Counts = {}
  for (const act of ACTS)
    if (document[act] !== undefined) answer[act] = { ...countsOf(act), refused: [] }
  if (document.all_servers || document.all_servers_of) {
    answer.put_servers ??= { ...countsOf('put_servers'), refused: [] }
    answer.put_servers.removed = 0
  }
  if (document.all_users) answer.put_users!.banned = 0
  return answer
}

function countsOf(act: ActName): Record<string, number> {
  if (act.startsWith('put_')) return { added: 0, changed: 0 }
  return act === 'revoke_keys' ? { revoked: 0 } : { removed: 0 }
}

/** What a row is called in an answer. */
function called(act: ActName, row: object): Partial<Refused> {
  const fields = row as Record<string, unknown>
  const names = {
    put_organizations: ['slug'],
    remove_organizations: ['slug'],
    put_servers: ['id'],
    remove_servers: ['id'],
    put_keys: ['key_hash'],
    revoke_keys: ['id', 'key_hash'],
  }[act as string] ?? ['external_id']
  return Object.fromEntries(
    names.flatMap((name) => (typeof fields[name] === 'string' ? [[name, fields[name]]] : [])),
  )
}
