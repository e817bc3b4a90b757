import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { Failure } from './errors.ts'
import { say } from './output.ts'

/** The whole text of a file, or of standard input where the name is `-`. */
export async function readInput(name: string): Promise<string> {
  const bytes = await readBytes(name)
  if (!isUtf8(bytes)) throw new Failure(`cannot read ${inputName(name)}: it is not text in UTF-8`)
  // Some editors begin a file with a mark that is no part of its text.
  return bytes.toString().replace(/^\uFEFF/, '')
}

/** What a sentence calls the input. */
export function inputName(name: string): string {
  return name === '-' ? 'standard input' : JSON.stringify(name)
}

async function readBytes(name: string): Promise<Buffer> {
  try {
    if (name !== '-') return await readFile(name)
    if (process.stdin.isTTY) say('reading from the terminal; Ctrl-D on a line of its own ends it')
    return await buffer(process.stdin)
  } catch (error) {
    throw new Failure(`cannot read ${inputName(name)}: ${reasonFor(error)}`)
  }
}

function reasonFor(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
      return 'there is no such file'
    case 'EISDIR':
      return 'it is a folder'
    case 'EACCES':
      return 'this user may not read it'
    default:
      return code ?? message
  }
}
