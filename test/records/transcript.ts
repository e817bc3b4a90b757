import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { isDeepStrictEqual, diff } from 'node:util'

/*
 * A transcript is a text file with inputs and what comes of them. A line that begins with `$ ` or
 * `+ ` is an input, `< ` a line of its standard input, and `# ` a comment. The lines below an input
 * are its record, which `npm run record` writes anew.
 */

export interface Input {
  /** True for an input after `+`, which goes on from what the one before has left. */
  goesOn: boolean
  /** True if the next input goes on from this one. */
  isFollowed: boolean
  text: string
  stdin: string
  /** The lines of the transcript, comments included. */
  lines: string[]
  /** The lines of the record. */
  record: string[]
}

/** Runs the inputs of a transcript in their order on one engine. */
export type Play = (input: Input) => Promise<string[]>

export function readTranscript(path: string): Input[] {
  const inputs: Input[] = []
  let comments: string[] = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line.startsWith('#')) comments.push(line)
    else if (/^[$+](?: |$)/.test(line)) {
      const lines = [...comments, line]
      const goesOn = line.startsWith('+')
      if (goesOn) inputs.at(-1)!.isFollowed = true
      inputs.push({
        goesOn,
        isFollowed: false,
        text: line.slice(2),
        stdin: '',
        lines,
        record: [],
      })
      comments = []
    } else if (line.startsWith('<')) {
      inputs.at(-1)!.lines.push(line)
      inputs.at(-1)!.stdin += `${line.slice(2)}\n`
    } else inputs.at(-1)?.record.push(line)
  }
  return inputs
}

/** True unless the input is a request or SQL. */
export function isCommand({ text }: Input): boolean {
  return !/^[A-Z]+ /.test(text)
}

/** True if the record of a command has no exit code other than 0 on the first engine. */
export function isSuccess({ record }: Input): boolean {
  return record.find((line) => !line.startsWith('on '))?.startsWith(' ') === true
}

/**
 * Plays a transcript on each engine and compares every line with the file. Where the engines
 * differ, the record names them.
 */
export async function compare(path: string, engines: ReadonlyMap<string, Play>): Promise<void> {
  const inputs = readTranscript(path)
  const played: [engine: string, records: string[][]][] = []
  for (const [engine, play] of engines) {
    const records: string[][] = []
    for (const input of inputs) records.push(await play(input))
    played.push([engine, records])
  }
  const lines = inputs.flatMap((input, index) => {
    const records = played.map(([engine, all]) => [engine, all[index]!] as const)
    const record = united(records)
    return [...(input.goesOn || index === 0 ? [] : ['']), ...input.lines, ...record]
  })
  const text = `${lines.map((line) => line.trimEnd()).join('\n')}\n`
  if (process.env.RECORD === '1') writeFileSync(path, text)
  const recorded = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (text !== recorded) assert.fail(differences(path, recorded, text))
}

type Played = readonly [engine: string, record: string[]]

/**
 * One record of all engines. It names an engine before what only this engine has, but for rows of a
 * repetition, which takes place on one of them.
 */
function united(played: readonly Played[]): string[] {
  const records = played.map(([engine, all]) => [engine, all.filter(not(isAgain))] as const)
  return [...unite(records), ...played.flatMap(([, all]) => all.filter(isAgain))]
}

const isAgain = (line: string) => line.startsWith('  again: ')
const not = (is: (line: string) => boolean) => (line: string) => !is(line)

function unite(records: readonly Played[]): string[] {
  const [[, first], other] = records as [Played, Played?]
  if (records.every(([, record]) => isDeepStrictEqual(record, first))) return first
  const lines = other === undefined ? [] : diff(first, other[1])
  if (lines.every(([operation, line]) => operation === 0 || ROW.test(line)))
    return lines.map(([operation, line]) => {
      if (operation === 0) return line
      return line.replace(ROW, `  on ${operation > 0 ? records[0]![0] : other![0]}: `)
    })
  return records.flatMap(([engine, record]) => [`on ${engine}:`, ...record])
}

/** What stands before a row in a record. */
const ROW = /^ {2}(?=\w)/

/** The lines that differ, below the input that they belong to. */
function differences(path: string, recorded: string, text: string): string {
  const shown: string[] = []
  let input = ''
  for (const [operation, line] of diff(text.split('\n'), recorded.split('\n'))) {
    if (/^[$+](?: |$)/.test(line)) input = line
    if (operation === 0) continue
    if (input !== '' && line !== input) shown.push(input)
    input = ''
    shown.push(`    ${operation > 0 ? '+' : '-'} ${line}`)
  }
  return [
    `${relative('', path)} differs. If that is right, run \`npm run record\`, and review its diff.`,
    ...shown,
  ].join('\n')
}
