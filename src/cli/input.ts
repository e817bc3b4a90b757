import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { Failure } from './errors.ts'

/** The whole of a file, or of standard input where the name is `-`. */
export async function readInput(name: string): Promise<string> {
  if (name === '-') return text(process.stdin)
  try {
    return await readFile(name, 'utf8')
  } catch (error) {
    throw new Failure(`cannot read ${JSON.stringify(name)}: ${reasonFor(error)}`)
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
