import { FIXED_PREFIX, PREFIX_LENGTH } from '../listing/key-format.ts'
import { formatInstant, type Instant } from '../listing/instant.ts'
import { escapeInvisible } from '../listing/invisible.ts'
import type { Shell } from './shell.ts'

// Everything after the prefix that we show. Case does not matter: an upper-case copy reveals the
// key too.
const WHOLE_KEY = new RegExp(
  `(${FIXED_PREFIX}\\S{${PREFIX_LENGTH - FIXED_PREFIX.length}})[^\\s…]+`,
  'gi',
)

/** Prints the result of a command to standard output, for pipes. */
export function print(shell: Shell, text: string): void {
  shell.stdout.write(`${text}\n`)
}

/**
 * Prints a message to standard error. Cuts whole keys, because a log may keep the message, and
 * escapes invisible characters.
 */
export function say(shell: Shell, text: string): void {
  const lines = text.replace(WHOLE_KEY, '$1…').split('\n')
  shell.stderr.write(`${lines.map((line) => escapeInvisible(line)).join('\n')}\n`)
}

export function printJson(shell: Shell, value: unknown): void {
  print(shell, JSON.stringify(value, null, 2))
}

/** An instant to the second, for people. */
export function shortInstant(instant: Instant | null, whenNull: string): string {
  return instant === null ? whenNull : `${formatInstant(instant).slice(0, 19)}Z`
}

/** Prints a table. Invisible characters are escaped, so a value cannot break out of its cell. */
export function printTable(
  shell: Shell,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  createTable(shell, heads).add(rows)
}

/**
 * A table that is printed in parts, the heads with the first. A part may have wider columns than
 * the one before.
 */
export function createTable(
  shell: Shell,
  heads: readonly string[],
): {
  add(rows: readonly (readonly string[])[]): void
} {
  const widths = heads.map(() => 0)
  let waiting = [heads]
  return {
    add(rows) {
      const cells = [...waiting, ...rows].map((row) => row.map((cell) => escapeInvisible(cell)))
      waiting = []
      for (const row of cells)
        for (const [column, cell] of row.entries())
          widths[column] = Math.max(widths[column] ?? 0, width(cell))
      const lines = cells.map((row) => {
        const padded = row.map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - width(cell)))
        return padded.join('  ').trimEnd()
      })
      if (lines.length > 0) print(shell, lines.join('\n'))
    },
  }
}

/**
 * A JSON array that is printed in parts, in the form of `printJson`. Prints nothing before the
 * first part, so that a command that fails at once has no output.
 */
export function createJsonArray(shell: Shell): {
  add(values: readonly unknown[]): void
  end(): void
} {
  let separator = '[\n'
  return {
    add(values) {
      const items = values.map((value) => JSON.stringify([value], null, 2).slice(2, -2))
      if (items.length === 0) return
      shell.stdout.write(separator + items.join(',\n'))
      separator = ',\n'
    },

    end: () => print(shell, separator === '[\n' ? '[]' : '\n]'),
  }
}

function width(text: string): number {
  return [...text].length
}

/** A progress line that overwrites itself. Silent unless standard error is a terminal. */
export function createProgress(shell: Shell): { show(text: string): void; clear(): void } {
  const { stderr } = shell
  if (!stderr.isTTY) return { show() {}, clear() {} }
  return {
    show: (text) => stderr.write(`\r${text}\x1b[K`),
    clear: () => stderr.write('\r\x1b[K'),
  }
}
