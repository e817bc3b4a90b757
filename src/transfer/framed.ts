import type { Column } from './copy.ts'

/** SQL for a value's text as the fingerprint frames it. Both engines measure it in code points. */
export function framed({ kind }: Column, text: string): string {
  return kind === 'text'
    ? `coalesce(length(${text}) || ':' || ${text} || ';', '~')`
    : `coalesce(${text} || ';', '~')`
}
