import { FIXED_PREFIX, PREFIX_LENGTH } from '../listing/api-key.ts'
import { formatInstant, type Instant } from '../listing/instant.ts'

// What is more than the prefix that is kept and shown.
const WHOLE_KEY = new RegExp(
  `(${FIXED_PREFIX}\\S{${PREFIX_LENGTH - FIXED_PREFIX.length}})[^\\s…]+`,
  'g',
)

/** What the command was asked for: on standard output, so that it can be piped. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/**
 * What the command has to say about it: on standard error. A key that was typed in the wrong place is not repeated
 * into whatever keeps this.
 */
export function say(text: string): void {
  process.stderr.write(`${text.replace(WHOLE_KEY, '$1…')}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** An instant for people, to the second. */
export function shortInstant(instant: Instant | null, whenNull: string): string {
  return instant === null ? whenNull : `${formatInstant(instant).slice(0, 19)}Z`
}

/** Lines in columns under their heads; a value cannot leave its cell. */
export function printTable(heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const cells = [heads, ...rows].map((row) => row.map(printable))
  const widths = heads.map(() => 0)
  for (const row of cells)
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, width(cell))
  const lines = cells.map((row) => {
    const padded = row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
    return padded.join('  ').trimEnd()
  })
  print(lines.join('\n'))
}

/** Control characters and those that turn the direction of writing, spelled out. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function width(text: string): number {
  return [...text].length
}

/** One line that is written over as the work goes on, where standard error is a terminal; nothing elsewhere. */
export function createProgress(): { show(text: string): void; clear(): void } {
  const { stderr } = process
  if (!stderr.isTTY) return { show() {}, clear() {} }
  return {
    show: (text) => stderr.write(`\r${text}\x1b[K`),
    clear: () => stderr.write('\r\x1b[K'),
  }
}
