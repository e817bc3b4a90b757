import { createParts } from '../../import-parts.ts'
import type { ServerEntry } from '../../server-entry.ts'
import type { ImportCounts, WholeImport } from '../../server-import.ts'
import type { Dialect, Queries } from '../../../database/database.ts'
import { inStrings, type Sql, sql, uuid } from '../../../database/sql.ts'
import type { ImportedRow } from './values.ts'
import type { PlanContext } from './draft.ts'
import { type ImportPlan, planImport } from './plan.ts'
import { createOrderedIds } from '../../../database/ordered-ids.ts'
import { placeOf, ROW } from '../server-rows.ts'

/** Entries that a preview plans at a time. */
export const PLANNED_MAX = 1_000

/** The entries of an import, and where they go. */
export interface ImportTarget {
  userId: string
  organizationId: string | null
  entries: readonly ServerEntry[]
  whole: WholeImport
}

/** Plans all entries, at most about `size` at a time. Related ones are in one part. */
export async function planParts(
  queries: Queries,
  dialect: Dialect,
  target: ImportTarget,
  size: number,
  now: number,
  use: (plan: ImportPlan) => Promise<void> | void,
): Promise<void> {
  const { entries, whole } = target
  const parts = createParts(entries)
  let ids: string[] | undefined
  const context: PlanContext = {
    now,
    idOf(position) {
      ids ??= entries.map(createOrderedIds())
      return ids[position]!
    },
    hasSlug: parts.hasSlug,
    placeOf: placeInList,
    ...whole,
  }
  // No part means a server that another one adds, so all of them find an empty place empty.
  const present = await queries.get(
    sql`SELECT 1 FROM servers WHERE ${inPlace(target.userId, target.organizationId)} LIMIT 1`,
  )
  for (let part = parts.next(size); part.length > 0; part = parts.next(size)) {
    const stored = present === null ? [] : await findStored(queries, dialect, target, part)
    await use(planImport(stored, entries, part, context))
  }
}

/** The place of an entry whose file is unknown. */
export const placeInList = (position: number): string => `entry ${position + 1}`

export function addCounts(counts: ImportCounts, plan: ImportPlan): void {
  counts.added += plan.added.length
  counts.changed += plan.changed.length
  counts.unchanged += plan.unchanged.length
  counts.duplicates += plan.duplicates
}

/** Where an import goes: the user's personal servers, or those under an organization. */
export const inPlace = (userId: string, organizationId: string | null): Sql =>
  sql`created_by = ${uuid(userId)}
    AND organization_id IS NOT DISTINCT FROM ${placeOf(organizationId)}`

/** The servers in this place that an entry of the part may mean. */
async function findStored(
  queries: Queries,
  { instant }: Dialect,
  { userId, organizationId, entries }: ImportTarget,
  positions: readonly number[],
): Promise<ImportedRow[]> {
  const place = inPlace(userId, organizationId)
  const find = (condition: Sql) =>
    queries.all<ImportedRow>(
      sql`SELECT ${ROW}, ${instant('updated_at')} FROM servers WHERE ${place} AND ${condition}`,
    )
  const part = positions.map((position) => entries[position]!)
  const slugs = part.flatMap(({ slug }) => (slug ? [slug] : []))
  const found = new Map<string, ImportedRow>()
  if (slugs.length > 0)
    for (const row of await find(sql`slug ${inStrings(slugs)}`)) found.set(row.id, row)
  const known = new Set([...found.values()].map(({ slug }) => slug))
  const addresses = part.flatMap(({ slug, address }) => (slug && known.has(slug) ? [] : [address]))
  if (addresses.length > 0)
    for (const row of await find(sql`host_label ${inStrings(addresses)}`)) found.set(row.id, row)
  return [...found.values()]
}
