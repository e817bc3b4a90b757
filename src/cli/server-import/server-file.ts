import { type ReadServers, readServers } from '../../listing/servers/file/server-file.ts'
import { count } from '../../listing/text.ts'
import { Failure } from '../errors.ts'
import { inputName, readInput } from '../input.ts'
import type { Shell } from '../shell.ts'

/** The maximum of mistakes that a failed import lists. */
const COMPLAINTS_MAX = 10

/** The servers of a file. */
export interface ReadFile extends Pick<ReadServers, 'entries' | 'places'> {
  /** Its name in messages. */
  source: string
}

export async function readFile(shell: Shell, file: string): Promise<ReadFile> {
  const source = inputName(file)
  const read = readServers(await readInput(shell, file))
  if ('complaint' in read) throw new Failure(`nothing was imported: ${source} ${read.complaint}`)
  const { entries, places, wrong } = read
  if (wrong.length > 0) throw new Failure(sayWrong(source, wrong))
  return { entries, places, source }
}

export function sayWrong(source: string, wrong: ReadServers['wrong']): string {
  const complaints = wrong
    .slice(0, COMPLAINTS_MAX)
    .map(({ place, message }) => `${place}: ${message}`)
  const more = wrong.length - COMPLAINTS_MAX
  const listed = [...complaints, ...(more > 0 ? [`and ${count(more)} more`] : [])]
  return `nothing was imported from ${source}:\n  ${listed.join('\n  ')}`
}
