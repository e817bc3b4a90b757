import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { complaintAboutError, decodeText, type OpenInput, withinBounds } from '../model/input.ts'
import { Failure } from './errors.ts'
import { say } from './output.ts'
import type { Shell } from './shell.ts'

/** The whole text of a file or a pipe, or of standard input if the name is `-`. */
export async function readInput(shell: Shell, name: string): Promise<string> {
  const read = decodeText(await readBytes(shell, name))
  if ('complaint' in read) throw unreadable(name, read.complaint)
  return read.text
}

/**
 * The ASCII characters of standard input, in any encoding. Keys also leak in dumps and binary logs,
 * and UTF-16 has a zero byte beside each ASCII character.
 */
export async function readAsciiOfInput(shell: Shell): Promise<string> {
  const bytes = await readBytes(shell, '-')
  return bytes.toString('latin1').replaceAll('\0', '')
}

/** The name of the input in a message. */
export function inputName(name: string): string {
  return name === '-' ? 'standard input' : JSON.stringify(name)
}

async function readBytes(shell: Shell, name: string): Promise<Buffer> {
  try {
    return await buffer(inputOf(shell)(name))
  } catch (error) {
    throw unreadable(name, complaintAboutError(error))
  }
}

function unreadable(name: string, complaint: string): Failure {
  return new Failure(`cannot read ${inputName(name)}: it ${complaint}`)
}

/** The system can't open standard input by a path if it is a socket, as from ssh. */
const STANDARD_INPUT = /^(-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/

/** Opens what the operator of this shell names. */
export function inputOf(shell: Shell): OpenInput {
  return (name) => {
    if (!STANDARD_INPUT.test(name)) return withinBounds(createReadStream(name))
    if (shell.stdin.isTTY)
      say(shell, 'reading from the terminal; press Ctrl-D on an empty line to finish')
    return withinBounds(shell.stdin as AsyncIterable<Buffer>)
  }
}
