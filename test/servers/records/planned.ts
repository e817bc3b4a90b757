import type { ServerEntry } from '../../../src/servers/server-entry.ts'
import { changedFields, type ImportedRow } from '../../../src/servers/records/import/values.ts'
import { planImport } from '../../../src/servers/records/import/plan.ts'

/*
 * Plans of imports, for tests.
 */

export const NOW = 9

export function stored(id: string, changed: Partial<ImportedRow> = {}): ImportedRow {
  return {
    id,
    name: id,
    slug: null,
    host_label: `${id}.example.com`,
    edition: 'java',
    status: 'published',
    version: null,
    listing_kind: null,
    updated_at: 1,
    ...changed,
  }
}

/** The new server of the first entry has the id `new 1`. */
export function plan(rows: readonly ImportedRow[], ...entries: ServerEntry[]) {
  const slugs = new Set(entries.map(({ slug }) => slug))
  return planImport(rows, entries, [...entries.keys()], {
    now: NOW,
    idOf: (position) => `new ${position + 1}`,
    hasSlug: (slug) => slugs.has(slug),
    placeOf: (position) => `row ${position + 2}`,
  })
}

/** What a plan does, in short. */
export function short({ added, changed, unchanged, duplicates, wrong }: ReturnType<typeof plan>) {
  return {
    ...(added.length > 0 ? { added: added.map(({ id }) => id) } : {}),
    ...(changed.length > 0
      ? { changed: changed.map((one) => [one.stored.id, ...changedFields(one)]) }
      : {}),
    ...(unchanged.length > 0 ? { unchanged: unchanged.map(({ id }) => id) } : {}),
    ...(duplicates > 0 ? { duplicates } : {}),
    ...(wrong.length > 0
      ? { wrong: wrong.map(({ place, message }) => `${place}: ${message}`) }
      : {}),
  }
}
