import { type Column, columnsOf, valueIn, type ImportedRow } from './values.ts'
import { readValue, type ServerEntry } from '../../server-entry.ts'

/** A server of a plan. A class, because V8 may make literals among the objects that live long. */
export class Planned {
  /** The server after the import. */
  row: ImportedRow
  /** The server as it is stored, or null for a new one. */
  readonly stored: ImportedRow | null
  /** The position of the entry that means this server, or -1. */
  meantBy: number
  /** Whether `row` has the instant of an entry. */
  isDated = false

  constructor(row: ImportedRow, stored: ImportedRow | null, meantBy = -1) {
    this.row = row
    this.stored = stored
    this.meantBy = meantBy
  }
}

/** Finds the servers that have an entry's values in some columns, with an index for each set. */
export function createFinder(
  servers: readonly Planned[],
): (entry: ServerEntry, columns: readonly Column[]) => Planned[] {
  const indexes = new Map<string, Map<string, Planned[]>>()
  return (entry, columns) => {
    const name = columns.join()
    let index = indexes.get(name)
    if (index === undefined) {
      index = Map.groupBy(servers, ({ row }) =>
        JSON.stringify(columns.map((column) => readValue(row[column]))),
      )
      indexes.set(name, index)
    }
    return index.get(JSON.stringify(columns.map((column) => valueIn(entry, column)))) ?? []
  }
}

/**
 * Pairs entries with stored servers that no entry means yet: first those with all values of an
 * entry but its slug, then those with its values in `columns`. A column that the entry leaves out
 * may have any value. Entries that set more columns come first. Returns the positions that are
 * left.
 */
export function pairEntries(
  entries: readonly ServerEntry[],
  positions: readonly number[],
  servers: readonly Planned[],
  columns: readonly Column[],
  mean: (one: Planned, position: number) => void,
): readonly number[] {
  if (servers.length === 0) return positions
  const given = (position: number, wanted: (column: Column) => boolean) =>
    columnsOf(entries[position]!).filter(wanted)
  const isNeeded = (column: Column) => columns.includes(column)
  if (servers.length === 1 && positions.length === 1) {
    const [one, entry] = [servers[0]!, entries[positions[0]!]!]
    const isSame = given(positions[0]!, isNeeded).every(
      (column) => readValue(one.row[column]) === valueIn(entry, column),
    )
    if (one.meantBy !== -1 || !isSame) return positions
    mean(one, positions[0]!)
    return []
  }
  const taken: [Planned, number][] = []
  const find = createFinder(servers.toReversed())
  const take = (position: number, wanted: readonly Column[]): boolean => {
    const found = find(entries[position]!, wanted)
    while (found.length > 0 && found.at(-1)!.meantBy !== -1) found.pop()
    const one = found.pop()
    if (one === undefined) return false
    one.meantBy = position
    taken.push([one, position])
    return true
  }
  const left = positions
    .map((position) => ({ position, wanted: given(position, (column) => column !== 'slug') }))
    .toSorted((one, other) => other.wanted.length - one.wanted.length)
    .filter(({ position, wanted }) => !take(position, wanted))
    .map(({ position }) => position)
    .toSorted((one, other) => one - other)
    .filter((position) => !take(position, given(position, isNeeded)))
  // The index has the stored values, so the servers change only now.
  for (const [one, position] of taken) mean(one, position)
  return left
}
