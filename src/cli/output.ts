import { FIXED_PREFIX, PREFIX_LENGTH } from '../listing/key-format.ts'
import { formatInstant, type Instant } from '../listing/instant.ts'
import { escapeInvisible } from '../listing/invisible.ts'

// Everything after the prefix that we show. Case does not matter: an upper-case copy reveals the
// key too.
const WHOLE_KEY = new RegExp(
  `(${FIXED_PREFIX}\\S{${PREFIX_LENGTH - FIXED_PREFIX.length}})[^\\s…]+`,
  'gi',
)

/** Prints the result of a command to standard output, for pipes. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/**
 * Prints a message to standard error. Cuts whole keys, because a log may keep the message, and
 * escapes invisible characters.
 */
export function say(text: string): void {
  const lines = text.replace(WHOLE_KEY, '$1…').split('\n')
  process.stderr.write(`${lines.map((line) => escapeInvisible(line)).join('\n')}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** An instant to the second, for people. */
export function shortInstant(instant: Instant | null, whenNull: string): string {
  return instant === null ? whenNull : `${formatInstant(instant).slice(0, 19)}Z`
}

/** Prints a table. Invisible characters are escaped, so a value cannot break out of its cell. */
export function printTable(heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const cells = [heads, ...rows].map((row) => row.map((cell) => escapeInvisible(cell)))
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

function width(text: string): number {
  return [...text].length
}

/** A progress line that overwrites itself. Silent unless standard error is a terminal. */
export function createProgress(): { show(text: string): void; clear(): void } {
  const { stderr } = process
  if (!stderr.isTTY) return { show() {}, clear() {} }
  return {
    show: (text) => stderr.write(`\r${text}\x1b[K`),
    clear: () => stderr.write('\r\x1b[K'),
  }
}
