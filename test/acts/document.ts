import { wordsOf } from '../records/commands.ts'
import { hashOf, idOf } from './scene.ts'

export type Json = Record<string, unknown>

/**
 * Reads a document. Each line is a row, `put_users external_id=ada email:=null`, or a whole value,
 * `put_users := []`. The text of `:=` is JSON. `@ada` is the id of that record, `#a` the hash of
 * that key (`#A` in capital letters), and `x{255}` so many of this character.
 */
export function readLines(lines: readonly string[]): Json {
  const document: Json = {}
  for (const line of lines.filter((one) => one !== 'nothing')) {
    const [, name, json] = /^(\w+) := (.*)$/.exec(line) ?? []
    if (name !== undefined) document[name] = unitedWith(document[name], JSON.parse(json!))
    else {
      const [act = '', ...fields] = wordsOf(line)
      document[act] = [...((document[act] ?? []) as unknown[]), rowOf(fields)]
    }
  }
  return document
}

/** A value behind rows is one more row. */
const unitedWith = (rows: unknown, value: unknown): unknown =>
  Array.isArray(rows) ? [...rows, value] : value

export function rowOf(fields: readonly string[]): Json {
  return Object.fromEntries(
    fields.map((word) => {
      const [, name = '', isJson, text = ''] = /^(\w+)(:?)=(.*)$/s.exec(word)!
      return [name, isJson === '' ? fill(text) : JSON.parse(text)]
    }),
  )
}

export function fill(text: string): string {
  if (text.startsWith('@')) return idOf(text.slice(1))
  if (/^#[A-Z]/.test(text)) return hashOf(text.slice(1).toLowerCase()).toUpperCase()
  if (text.startsWith('#')) return hashOf(text.slice(1))
  return text.replace(/(.)\{(\d+)\}/u, (_, character: string, times: string) =>
    character.repeat(Number(times)),
  )
}
