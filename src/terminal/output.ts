import { FIXED_PREFIX, PREFIX_LENGTH } from '../model/key-format.ts'
import { formatInstant, type Instant } from '../model/instant.ts'
import { escapeInvisible, isPlain } from '../model/characters/invisible.ts'
import type { Shell } from './shell.ts'
import { jsonArray } from '../model/json-array.ts'

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
  const table = createTable(shell, heads)
  table.add(rows)
  table.end()
}

/** A list that is printed in parts. */
export interface PrintedList<Item> {
  add(items: readonly Item[]): void
  end(): void
}

/**
 * A table in parts. The heads come with the first row, or at the end if there is none. A part may
 * have wider columns than the one before.
 */
export function createTable(
  shell: Shell,
  heads: readonly string[],
): PrintedList<readonly string[]> {
  const widths = heads.map(() => 0)
  const waiting = [heads]

  function printRows(rows: readonly (readonly string[])[]): void {
    const cells = [...waiting.splice(0), ...rows].map((row) =>
      row.map((cell) => escapeInvisible(cell)),
    )
    for (const row of cells)
      for (const [column, cell] of row.entries())
        widths[column] = Math.max(widths[column] ?? 0, columnsOf(cell))
    const lines = cells.map((row) => {
      const padded = row.map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - columnsOf(cell)))
      return padded.join('  ').trimEnd()
    })
    if (lines.length > 0) print(shell, lines.join('\n'))
  }

  return {
    add(rows) {
      if (rows.length > 0) printRows(rows)
    },

    end: () => printRows([]),
  }
}

/** Letters and emoji that take two columns of a terminal. */
const WIDE = /^[\p{scx=Hang}\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{Emoji_Presentation}]|\ufe0f/u

/** Columns of a text in a terminal. A letter has its marks above and below it. */
function columnsOf(text: string): number {
  if (isPlain(text)) return text.length
  const letters = [...new Intl.Segmenter().segment(text)]
  return letters.reduce((sum, { segment }) => sum + (WIDE.test(segment) ? 2 : 1), 0)
}

/**
 * A JSON array in parts. Prints nothing before the first value, so that a command that fails at
 * once has no output.
 */
export function createJsonArray(shell: Shell): PrintedList<unknown> {
  const array = jsonArray()
  return {
    add: (values) => void shell.stdout.write(array.add(values)),
    end: () => void shell.stdout.write(array.end()),
  }
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

/** Returns a function that prints a problem beside which the command goes on. */
export function createWarn(shell: Shell): (fault: Error) => void {
  return ({ message }) => say(shell, `warning: ${message}`)
}
