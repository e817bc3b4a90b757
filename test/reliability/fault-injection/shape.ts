import type { Dump } from './tables.ts'

/**
 * Values that each run creates anew: ids, hashes of keys, tokens and passwords, instants,
 * transaction numbers.
 */
const GENERATED =
  /^(\\x)?[0-9a-f-]{32,}$|^\$argon2id\$|^svc_live_[0-9a-f]+$|^\d{4}-\d\d-\d\dT|^\d{3,}$/
/** A column of JSON, which can have such values, too. */
const JSON_TEXT = /^\[(\{.*\})?\]$|^\{.*\}$/s
/** Only instants are larger: they are microseconds since 1970. */
const INSTANT_MIN = 1_000_000_000_000

/**
 * Attempts are counted before they are checked, so that concurrent ones cannot bypass the limit. An
 * attempt that failed on the way may stay counted.
 */
const COUNTED = 'sign_in_attempts'
/** Its rows expire after a minute by the clock, which a slow machine exceeds within a sweep. */
const EXPIRING = 'removed_claims'

/** The rows with one placeholder for each new value, so that two runs can be compared. */
export function shapeOf(dump: Dump, before: Dump): Dump {
  const known = new Set<unknown>()
  for (const rows of before.values())
    for (const row of rows) for (const value of Object.values(JSON.parse(row))) known.add(value)
  const shaped = new Map<string, string[]>()
  for (const [name, rows] of dump) {
    if (name === COUNTED || name === EXPIRING) continue
    const lines = rows.map((row) => JSON.stringify(JSON.parse(row, unnamed)))
    shaped.set(name, lines.toSorted())
  }
  return shaped

  function unnamed(_: string, value: unknown): unknown {
    if (known.has(value)) return value
    if (typeof value === 'string' && JSON_TEXT.test(value)) return JSON.parse(value, unnamed)
    const isNew =
      typeof value === 'string'
        ? GENERATED.test(value)
        : typeof value === 'number' && value >= INSTANT_MIN
    return isNew ? '(new)' : value
  }
}

/**
 * The differences between a dump and the wanted one; null if there are none. Tables in `following`
 * only record an act (its audit entry, its session): rows may be missing there, but no other row
 * may exist.
 */
export function differenceFrom(
  to: Dump,
  present: Dump,
  following: readonly string[],
  /** Tables that are not compared. */
  leftOut: readonly string[] = [],
): Dump | null {
  const differing = [...to].flatMap(([name, wanted]): [string, string[]][] => {
    if (leftOut.includes(name)) return []
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

/**
 * What several transactions must not leave between `from` and `to`: rows of neither dump, unless
 * `isBetween` allows them, and missing rows that both dumps have. Null if there are none.
 */
export function differenceFromParts(
  from: Dump,
  to: Dump,
  present: Dump,
  isBetween: (table: string, row: string) => boolean,
): Dump | null {
  const names = new Set([...from.keys(), ...to.keys(), ...present.keys()])
  const differing = [...names].flatMap((name): [string, string[]][] => {
    const [first = [], last = [], found = []] = [from.get(name), to.get(name), present.get(name)]
    const lines = [
      ...found
        .filter((row) => !first.includes(row) && !last.includes(row) && !isBetween(name, row))
        .map((row) => `+ ${row}`),
      ...first.filter((row) => last.includes(row) && !found.includes(row)).map((row) => `- ${row}`),
    ]
    return lines.length === 0 ? [] : [[name, lines]]
  })
  return differing.length === 0 ? null : new Map(differing)
}

/** Removing a user first revokes the keys and disables the user. */
export function isWithoutAccess(table: string, row: string): boolean {
  return (
    (table === 'api_keys' && row.includes('"revoked_at":"(new)"')) ||
    (table === 'users' && row.includes('"disabled_at":"(new)"'))
  )
}
