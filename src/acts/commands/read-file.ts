import { dirname, resolve } from 'node:path'
import { readText } from '../../model/input.ts'
import { countOf, quote } from '../../model/text.ts'
import { Failure } from '../../terminal/errors.ts'
import { inputName } from '../../terminal/input.ts'
import type { Complaint } from '../document.ts'
import type { ReadKeyFile } from '../read-key.ts'

/** Parses JSON without repeating any of its text, which may have a key. */
export function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const at = /\(line \d+ column \d+\)/.exec((error as Error).message)?.[0] ?? ''
    throw new Failure(
      `nothing was changed: ${inputName(file)} is not JSON${at === '' ? '' : ` ${at}`}`,
    )
  }
}

/** Key files are named relative to the folder of the file that names them. */
export function keyFilesBeside(file: string): ReadKeyFile {
  // A pipe stands in no folder of the operator's.
  const folder = /^(-$|\/dev\/(stdin$|fd\/))/.test(file) ? '.' : dirname(file)
  return (name) => readText(resolve(folder, name), `the file ${quote(name)}`)
}

/** All mistakes of a file as one error. */
export function refusal(file: string, complaints: readonly Complaint[]): Failure {
  const lines = complaints.map(
    ({ place, message }) => `${place === '' ? 'the file' : place}: ${message}`,
  )
  return new Failure(
    `nothing was changed: ${inputName(file)} has ${countOf(lines.length, 'mistake')}:\n` +
      lines.map((line) => `  ${line}`).join('\n'),
  )
}
