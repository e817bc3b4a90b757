import type { Dump } from './tables.ts'

/** What is made anew by every run: ids, tokens, hashes, instants, numbers of transactions. */
const GENERATED =
  /^(\\x)?[0-9a-f-]{32,}(:[0-9a-f]+)?$|^[A-Za-z0-9]{32}$|^svc_live_[0-9a-f]+$|^\d{4}-\d\d-\d\dT|^\d{3,}$/
/** Microseconds since 1970 are larger, and nothing else is. */
const INSTANT_MIN = 1_000_000_000_000

/**
 * Tried passwords and the like, which are counted before they are tried, so that many at once are no way around the
 * count: one that the service could not try may stay counted.
 */
const COUNTED = 'sign_in_attempts'

/** The rows with all that is new in them called by one name, so that two runs can be compared. */
export function shapeOf(dump: Dump, before: Dump): Dump {
  const known = new Set<unknown>()
  for (const rows of before.values())
    for (const row of rows) for (const value of Object.values(JSON.parse(row))) known.add(value)
  const shaped = new Map<string, string[]>()
  for (const [name, rows] of dump) {
    if (name === COUNTED) continue
    const lines = rows.map((row) => JSON.stringify(JSON.parse(row, unnamed)))
    shaped.set(name, lines.toSorted())
  }
  return shaped

  function unnamed(_: string, value: unknown): unknown {
    if (known.has(value)) return value
    const isNew =
      typeof value === 'string'
        ? GENERATED.test(value)
        : typeof value === 'number' && value >= INSTANT_MIN
    return isNew ? '(new)' : value
  }
}

/**
 * What is wrong with a dump that has to be as `from` or as `to`: null if nothing is. Of the tables that only follow
 * what was done (what was written down about it, the session that begins with it) something may be missing in `to`;
 * but no row is in them that neither has, and none that `to` has no more.
 */
export function differenceFrom(to: Dump, present: Dump, following: readonly string[]): Dump | null {
  const differing = [...to].flatMap(([name, wanted]): [string, string[]][] => {
    const found = present.get(name) ?? []
    if (following.includes(name)) {
      const alien = found.filter((row) => !wanted.includes(row))
      return alien.length === 0 ? [] : [[name, alien.map((row) => `+ ${row}`)]]
    }
    const lines = [
      ...found.filter((row) => !wanted.includes(row)).map((row) => `+ ${row}`),
      ...wanted.filter((row) => !found.includes(row)).map((row) => `- ${row}`),
    ]
    if (lines.length > 0) return [[name, lines]]
    return found.length === wanted.length ? [] : [[name, [`${found.length} rows`]]]
  })
  return differing.length === 0 ? null : new Map(differing)
}
