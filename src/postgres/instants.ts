import type { Instant } from '../listing/instant.ts'

/*
 * Instants cross the driver as whole microseconds: a Date has only milliseconds.
 */

/** SQL for a timestamptz column as microseconds. */
export function microsecondsOf(column: string): string {
  return `(extract(epoch FROM ${column}) * 1000000)::bigint AS ${column.split('.').at(-1)}`
}

/** SQL for a parameter in microseconds as a timestamptz. */
export function timestampOf(parameter: string): string {
  return `timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond'`
}

/** A bigint column as it comes from the driver, which makes text of it. */
export function toInstant(text: string): Instant
export function toInstant(text: string | null): Instant | null
export function toInstant(text: string | null): Instant | null {
  return text === null ? null : Number(text)
}
