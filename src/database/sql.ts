import type { Instant } from '../model/instant.ts'

/** A parameter of a statement. */
export type Value = string | number | null | Uint8Array | TypedValue

/** A value that the engines spell differently. */
export type TypedValue =
  | { readonly type: 'instant'; readonly value: Instant }
  | { readonly type: 'uuid'; readonly value: string }
  | { readonly type: 'uuids' | 'strings'; readonly value: readonly string[] }
  | { readonly type: 'bytes'; readonly value: readonly Uint8Array[] }

/** An integer on SQLite, a timestamptz on PostgreSQL. */
export const at = (value: Instant): Value => ({ type: 'instant', value })

/** An id from outside. Text that is not a UUID matches no row on either engine. */
export const uuid = (value: string): Value => ({ type: 'uuid', value })

/*
 * Behind a column: it has one of these values, any number of which are one parameter.
 */
export const inUuids = (value: readonly string[]): Value => ({ type: 'uuids', value })
export const inStrings = (value: readonly string[]): Value => ({ type: 'strings', value })
export const inBytes = (value: readonly Uint8Array[]): Value => ({ type: 'bytes', value })

export const isTyped = (value: Value): value is TypedValue =>
  typeof value === 'object' && value !== null && 'type' in value

/** A statement, or a fragment of one. `values` stand between `texts`, so there is one text more. */
export class Sql {
  readonly texts: readonly string[]
  readonly values: readonly Value[]

  constructor(texts: readonly string[], values: readonly Value[]) {
    this.texts = texts
    this.values = values
  }
}

/** A value becomes a parameter, and a fragment becomes part of the statement. */
export function sql(texts: readonly string[], ...parts: readonly (Value | Sql)[]): Sql {
  const joined = [texts[0]!]
  const append = ([first = '', ...rest]: readonly string[]) =>
    joined.push(`${joined.pop()}${first}`, ...rest)
  const values: Value[] = []
  for (const [index, part] of parts.entries()) {
    const fragment = part instanceof Sql ? part : new Sql(['', ''], [part])
    append(fragment.texts)
    append([texts[index + 1]!])
    values.push(...fragment.values)
  }
  return new Sql(joined, values)
}

/** Text of our own code, such as a column. Never pass a user's text. */
export const raw = (text: string): Sql => new Sql([text], [])
