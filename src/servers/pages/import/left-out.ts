import { IGNORED, type LeftOut } from '../../file/records.ts'
import type { Context } from '../../../web/context.ts'

/*
 * What an import does not take from a file. The address of the check carries it.
 */

/** The query of the check's address, or nothing. */
export function writeLeftOut({ ignored, elsewhere }: LeftOut): string {
  const query = new URLSearchParams()
  if (ignored.length > 0) query.set('ignored', ignored.join(' '))
  if (elsewhere > 0) query.set('elsewhere', String(elsewhere))
  return query.size === 0 ? '' : `?${query.toString()}`
}

/** Ignores what `writeLeftOut` does not write. */
export function readLeftOut(c: Context): LeftOut {
  const names = (c.req.query('ignored') ?? '').split(' ')
  const elsewhere = Number(c.req.query('elsewhere') ?? 0)
  return {
    ignored: IGNORED.filter((name) => names.includes(name)),
    elsewhere:
      Number.isInteger(elsewhere) && elsewhere > 0 && elsewhere < 1_000_000 ? elsewhere : 0,
  }
}
