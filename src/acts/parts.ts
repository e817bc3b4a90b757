import type { NamedUser } from '../accounts/user.ts'
import type { ActName, AnyRow, Document, Named } from './document.ts'

/** Rows that are planned and written together. A user with more rows has a part alone. */
const PART_ROWS = 1_000

/** The rows of a user, or of an organization without an owner's name. */
interface Group {
  document: Document
  rows: number
  /** Organizations that must be there before. */
  slugs: string[]
  /** The users with whom this one exchanges an address. */
  near: Group[]
}

type List = Exclude<keyof Document, 'all_users' | 'all_servers'>

/** The rows that belong to a user. What ends follows them. */
const OF_USERS = [
  'put_users',
  'banned',
  'put_organizations',
  'put_members',
  'put_servers',
  'all_servers_of',
  'put_keys',
  'revoke_keys',
  'remove_members',
] as const satisfies List[]
const ENDS = ['remove_servers', 'remove_organizations', 'remove_users'] as const satisfies ActName[]

/**
 * Splits a document into parts of one transaction each, in the order in which they can be done. A
 * user is in one part, except for removals. `holders` are those who have an address of put_users.
 */
export function partsOf(document: Document, holders: readonly NamedUser[]): Document[] {
  const { groups, find, makers } = groupRows(document)
  for (const { id, external_id, email } of holders) {
    const [wanting, holding] = [find({ email }), find({ external_id, user_id: id })]
    if (wanting === undefined || holding === undefined || wanting === holding) continue
    wanting.near.push(holding)
    holding.near.push(wanting)
  }
  const parts: Document[] = []
  let [part, rows]: [Document[], number] = [[], 0]
  const close = () => {
    if (rows > 0) parts.push(merged(part))
    ;[part, rows] = [[], 0]
  }
  const add = (document: Document, count: number) => {
    part.push(document)
    rows += count
  }
  for (const unit of unitsOf(groups, makers)) {
    for (const group of unit) add(group.document, group.rows)
    if (rows >= PART_ROWS) close()
  }
  for (const act of ENDS)
    for (const row of document[act] ?? []) {
      add({ [act]: [row] }, 1)
      if (rows >= PART_ROWS) close()
    }
  close()
  return parts
}

/** What names a user among the rows of a document. */
const namesOf = ({ external_id, user_id, email }: Named): string[] =>
  Object.entries({ external_id, user_id, email }).flatMap(([field, name]) =>
    name ? [`${field} ${name}`] : [],
  )

/** The groups of a document. `makers` are those that make an organization or give it an owner. */
function groupRows(document: Document) {
  const groups: Group[] = []
  const byName = new Map<string, Group>()
  const makers = new Map<string, Group[]>()
  const find = (named: Named) =>
    namesOf(named)
      .map((name) => byName.get(name))
      .find((group) => group !== undefined)
  const groupOf = (named: Named): Group => {
    const known = find(named)
    const group = known ?? { document: {}, rows: 0, slugs: [], near: [] }
    if (known === undefined) groups.push(group)
    for (const name of namesOf(named)) if (!byName.has(name)) byName.set(name, group)
    return group
  }
  for (const act of OF_USERS)
    for (const row of (document[act] ?? []) as (AnyRow & Named)[]) {
      const group = groupOf(row)
      push(group.document, act, row)
      group.rows += 1
      const slug = 'slug' in row ? row.slug : 'organization' in row ? row.organization : null
      if (typeof slug !== 'string') continue
      group.slugs.push(slug)
      if (act === 'put_organizations' || ('role' in row && row.role === 'owner'))
        makers.set(slug, [...(makers.get(slug) ?? []), group])
    }
  return { groups, find, makers }
}

/**
 * What belongs into one transaction, so that no organization is without an owner in between: before
 * or with a user come the organizations of that user, with an owner.
 */
function* unitsOf(
  groups: readonly Group[],
  makers: ReadonlyMap<string, Group[]>,
): Generator<Group[]> {
  const left = new Set(groups)
  for (const first of groups) {
    const unit = left.delete(first) ? [first] : []
    // The unit grows meanwhile.
    for (const { slugs, near } of unit)
      for (const other of [
        ...near,
        ...slugs.flatMap((slug) => (makers.get(slug) ?? []).slice(0, 2)),
      ])
        if (left.delete(other)) unit.push(other)
    if (unit.length > 0) yield unit
  }
}

function push(document: Document, act: string, row: AnyRow): void {
  const lists = document as Record<string, AnyRow[]>
  lists[act] ??= []
  lists[act].push(row)
}

function merged(documents: readonly Document[]): Document {
  const whole: Document = {}
  for (const document of documents)
    for (const [act, rows] of Object.entries(document) as [string, AnyRow[]][])
      for (const row of rows) push(whole, act, row)
  return whole
}
