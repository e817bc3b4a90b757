import { complaintsAboutCase, type ServerEntry } from '../../server-entry.ts'
import type { OfferedValues } from '../../server-import.ts'
import { quote } from '../../../model/text.ts'
import { type ImportedRow, columnsOf, valueIn } from './values.ts'
import type { Planned } from './pairs.ts'

/** A mistake of an entry that shows only beside other entries or stored servers. */
export interface Mistake {
  position: number
  message: string
  /** The known values that the entry may mean instead of its own. */
  offered?: OfferedValues
}

/** An entry whose server another entry already means, with other values. The later one is wrong. */
export function meantTwice(
  entry: ServerEntry,
  position: number,
  { row, meantBy }: Planned,
  placeOf: (position: number) => string,
): Mistake {
  const isLater = position > meantBy
  const fields = columnsOf(entry).flatMap((column) => {
    const [own, known] = [valueIn(entry, column), row[column]]
    if (column === 'updated_at' || own === known) return []
    const [wrong, right] = isLater ? [own, known] : [known, own]
    const name = column === 'host_label' ? 'address' : column
    return [`"${name}" ${quote(wrong)} instead of ${quote(right)}`]
  })
  const other = placeOf(Math.min(position, meantBy))
  const same = entry.slug ? `has the slug ${quote(entry.slug)} of` : 'means the same server as'
  const own = entry.slug ? 'a slug' : 'a slug or an edition'
  return {
    position: Math.max(position, meantBy),
    message:
      `${same} ${other}, but has ${fields.join(', ')}. If they are two servers, give each ${own} ` +
      'of its own. If they are one, delete a row',
  }
}

/** An entry without a slug that has another name than the server it means. */
export function renames(entry: ServerEntry, position: number, { row }: Planned): Mistake {
  const rename =
    row.slug === null
      ? 'Rename that server in the dashboard, or give this one a slug of its own'
      : `Give the slug ${quote(row.slug)} to rename that server, or another slug for a second one`
  return {
    position,
    message:
      `"name" is ${quote(entry.name)}, but the server with this address and edition is ` +
      `${quote(row.name)}. ${rename}`,
  }
}

/** A new status or edition that differs from a known one only in case. */
export function otherCases(
  entry: ServerEntry,
  position: number,
  before: Pick<ImportedRow, 'edition' | 'status'>,
): Mistake[] {
  return Object.entries(complaintsAboutCase(entry, before)).map(([field, complaint]) => ({
    position,
    message: `"${field}" ${complaint}: ${quote(entry[field as keyof OfferedValues])}`,
    offered: { [field]: entry[field as keyof OfferedValues]!.toLowerCase() },
  }))
}
