import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * The kept corpus: a line for each input, in JSON. An input is a list of the pieces in which it
 * arrives. A piece is a list of Latin-1 texts, and of texts with the number of their repetitions.
 */

/** The pieces in which a client's text arrives. KEY stands for a key that was just used. */
export type Input = readonly string[]

const FILE = join(import.meta.dirname, 'kept.jsonl')

export function readKept(): Input[] {
  const lines = readFileSync(FILE, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => (JSON.parse(line) as Packed[][]).map(unpacked))
}

export function writeKept(inputs: readonly Input[]): void {
  const lines = inputs.map(lineOf).toSorted()
  writeFileSync(FILE, lines.map((line) => `${line}\n`).join(''))
}

export function lineOf(input: Input): string {
  return JSON.stringify(input.map(packed)).replaceAll(NOT_ASCII, escaped)
}

type Packed = string | [text: string, count: number]

/** A short text, many times. */
const LONG_RUN = /(.{1,16}?)\1{31,}/gs

function packed(piece: string): Packed[] {
  const parts: Packed[] = []
  let at = 0
  for (const { 0: run, 1: text = '', index } of piece.matchAll(LONG_RUN)) {
    if (index > at) parts.push(piece.slice(at, index))
    parts.push([text, run.length / text.length])
    at = index + run.length
  }
  return at < piece.length ? [...parts, piece.slice(at)] : parts
}

function unpacked(parts: readonly Packed[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part[0].repeat(part[1]))).join('')
}

const NOT_ASCII = /[\x7f-\xff]/g

function escaped(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`
}
