import * as fc from 'fast-check'

/** A change of a text, at positions given as fractions of its length. */
export type Mutation = (text: string, others: readonly string[]) => string

const BYTES = [...'\0\x01\t\v\f\r\n \x7f\x80\xa0\xff,:;/?#*@[%"019Gx', '\r\n', '\r\n\r\n', '\r\n ']

const place = fc.integer({ min: 0, max: 9_999 })
const length = fc.integer({ min: 1, max: 6 })

const insertion = fc.tuple(place, fc.constantFrom(...BYTES)).map(
  ([place, bytes]): Mutation =>
    (text) => {
      const at = within(text.length, place)
      return text.slice(0, at) + bytes + text.slice(at)
    },
)

const deletion = fc.tuple(place, length).map(
  ([place, length]): Mutation =>
    (text) => {
      const at = within(text.length, place)
      return text.slice(0, at) + text.slice(at + length)
    },
)

const repetition = fc.tuple(place, length).map(
  ([place, length]): Mutation =>
    (text) => {
      const at = within(text.length, place)
      return text.slice(0, at + length) + text.slice(at)
    },
)

const swap = fc.tuple(place, length, place).map(
  ([from, length, to]): Mutation =>
    (text) => {
      const at = within(text.length, from)
      const rest = text.slice(0, at) + text.slice(at + length)
      const target = within(rest.length, to)
      return rest.slice(0, target) + text.slice(at, at + length) + rest.slice(target)
    },
)

/** Repeats, removes or moves a line. */
const lineChange = fc.tuple(place, place, fc.constantFrom('repeat', 'remove', 'move')).map(
  ([from, to, kind]): Mutation =>
    (text) => {
      const lines = text.split('\r\n')
      const at = within(lines.length - 1, from)
      const taken = lines[at]!
      if (kind !== 'repeat') lines.splice(at, 1)
      if (kind !== 'remove') lines.splice(within(lines.length, to), 0, taken)
      return lines.join('\r\n')
    },
)

/** Replaces a line by the beginning of another text. */
const splice = fc.tuple(place, place, length).map(
  ([from, which, count]): Mutation =>
    (text, others) => {
      const lines = text.split('\r\n')
      const other = others[within(others.length - 1, which)]!
      lines.splice(within(lines.length - 1, from), 1, ...other.split('\r\n').slice(0, count))
      return lines.join('\r\n')
    },
)

export const mutation = fc.oneof(insertion, deletion, repetition, swap, lineChange, splice)

export const cuts = fc.array(place, { maxLength: 4 })

/** The position at this many ten-thousandths of a length. */
export function within(length: number, place: number): number {
  return Math.floor(((length + 1) * place) / 10_000)
}
