import { IGNORED_NAMED_MAX, type LeftOut } from '../../file/records.ts'
import type { Context } from '../../../web/context.ts'

/*
 * What an import does not take from a file as it stands there. The address of the check carries it.
 */

/** Beside what it leaves out, how many values it takes as a known one of another case. */
export type Adjusted = LeftOut & { offered: number }

/** The query of the check's address, or nothing. */
export function writeLeftOut({ ignored, elsewhere, shortened, offered }: Adjusted): string {
  const query = new URLSearchParams()
  for (const name of ignored) query.append('ignored', name)
  if (elsewhere > 0) query.set('elsewhere', String(elsewhere))
  if (shortened > 0) query.set('shortened', String(shortened))
  if (offered > 0) query.set('offered', String(offered))
  return query.size === 0 ? '' : `?${query.toString()}`
}

/** Ignores what `writeLeftOut` does not write. */
export function readLeftOut(c: Context): Adjusted {
  const numberOf = (name: string) => {
    const number = Number(c.req.query(name) ?? 0)
    return Number.isInteger(number) && number > 0 && number < 1_000_000 ? number : 0
  }
  return {
    ignored: c.req.queries('ignored')?.slice(0, IGNORED_NAMED_MAX + 1) ?? [],
    elsewhere: numberOf('elsewhere'),
    shortened: numberOf('shortened'),
    offered: numberOf('offered'),
  }
}
