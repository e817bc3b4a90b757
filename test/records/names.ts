import { readFileSync } from 'node:fs'
import type { Input } from './transcript.ts'

/*
 * Names in braces for what differs from run to run, in the place of the values.
 */

export interface Names {
  /** Gives a value a name. Longer values take precedence. */
  add(name: string, value: string): void
  /** Replaces the names in an input by the values. */
  fill(text: string): string
  /** Replaces the values in an output by names, and numbers those without one as they come. */
  hide(text: string): string
  /** Numbers from 1 again. */
  forgetNumbered(): void
}

const MANIFEST = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
const VERSION = String(JSON.parse(MANIFEST).version)
const DAY_MS = 86_400_000

const KINDS = [
  ['key', /svc_live_[0-9a-f]{64}/g],
  ['prefix', /svc_live_[0-9a-f]{7}(?=…)/g],
  ['id', /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g],
  ['hash', /\b[0-9a-f]{64}\b/g],
  ['token', /(?<=\/(?:link|setup)\/|"token": "|^)[\w-]{43}(?![\w-])/gm],
  ['stamp', /\b\d{8}T\d{9}(?:\d{3})?Z/g],
] as const

/** Values that an input or a comment has keep their form. */
export function createNames(inputs: readonly Input[]): Names {
  const given = inputs.flatMap(({ lines }) => lines).join('\n')
  const fixed = new Map<string, string>()
  const numbered = new Map<string, string>()
  const counts = new Map<string, number>()

  function numberOf(kind: string, value: string): string {
    if (given.includes(value)) return value
    const known = numbered.get(value)
    if (known !== undefined) return known
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    const name = `{${kind}${count}}`
    numbered.set(value, name)
    if (kind === 'key') numbered.set(value.slice(0, 16), `{prefix of key${count}}`)
    return name
  }

  return {
    add: (name, value) => void fixed.set(value, `{${name}}`),

    fill(text) {
      let filled = text
      for (const [value, name] of [...fixed, ...numbered]) filled = filled.replaceAll(name, value)
      return filled
    },

    hide(text) {
      let hidden = text.replaceAll(MEASURED, '{measured}')
      for (const [value, name] of [...fixed].toSorted(([a], [b]) => b.length - a.length))
        hidden = hidden.replaceAll(value, name)
      for (const [kind, pattern] of KINDS)
        hidden = hidden.replaceAll(pattern, (value) => numberOf(kind, value))
      for (const [value, name] of numbered)
        if (value.startsWith('svc_live_')) hidden = hidden.replaceAll(value, name)
      hidden = hidden.replaceAll(INSTANT, hidePresent).replaceAll(VERSION, '{version}')
      // The columns of a table are as wide as the values.
      return hidden === text ? text : hidden.replaceAll(/(?<=\S) {2,}/g, '  ')
    },

    forgetNumbered() {
      numbered.clear()
      counts.clear()
    },
  }
}

/** Versions, sizes and times of the machine. */
const MEASURED = new RegExp(
  [
    String.raw`(?<=PostgreSQL |SQLite |\bv)\d+(?:\.\d+)+(?: \([^)]*\))?`,
    String.raw`(?<=answers in |started )(?:\d+ ms|just now|[^,]* ago)`,
    String.raw`(?<=(?:Never used in|Unused for) )[\d,]+(?= days)`,
    String.raw`[\d.]+ (?=MB (?:left|of memory))|(?<=, )[\d.]+ (?=MB)`,
  ].join('|'),
  'g',
)

const INSTANT = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)/g

/** Instants that a transcript sets itself lie further away. */
function hidePresent(instant: string): string {
  const distance = Date.parse(instant.replace(' UTC', 'Z')) - Date.now()
  return Math.abs(distance) < 4 * DAY_MS ? '{time}' : instant
}
