import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { Failure } from './errors.ts'
import { say } from './output.ts'
import type { Shell } from './shell.ts'

/** The whole text of a file, or of standard input if the name is `-`. */
export async function readInput(shell: Shell, name: string): Promise<string> {
  const bytes = await readBytes(shell, name)
  if (!isUtf8(bytes)) throw new Failure(`cannot read ${inputName(name)}: it is not UTF-8 text`)
  // Some editors begin a file with a byte order mark.
  return bytes.toString().replace(/^\uFEFF/, '')
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
    if (name !== '-') return await readFile(name)
    if (shell.stdin.isTTY)
      say(shell, 'reading from the terminal; press Ctrl-D on an empty line to finish')
    return await buffer(shell.stdin)
  } catch (error) {
    throw new Failure(`cannot read ${inputName(name)}: ${reasonFor(error)}`)
  }
}

/** Why a file can't be read. */
export function reasonFor(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
      return 'no such file'
    case 'EISDIR':
      return 'it is a directory'
    case 'EACCES':
      return 'permission denied'
    default:
      return code ?? message
  }
}
