import { sayLeftOut } from '../file/records.ts'
import { type ReadServers, readServers } from '../file/server-file.ts'
import { count } from '../../model/text.ts'
import { Failure } from '../../terminal/errors.ts'
import { inputName, readInput } from '../../terminal/input.ts'
import { say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'

/** The maximum of mistakes that a failed import lists. */
const COMPLAINTS_MAX = 10

/** The servers of a file. */
export interface ReadFile extends Pick<ReadServers, 'entries' | 'places' | 'isFullAnswer'> {
  /** Its name in messages. */
  source: string
}

/** `organization` is the slug of the place that the servers go to. */
export async function readFile(
  shell: Shell,
  file: string,
  organization: string | null,
): Promise<ReadFile> {
  const source = inputName(file)
  const read = await readServers(await readInput(shell, file), { organization })
  if ('complaint' in read) throw new Failure(`nothing was imported: ${source} ${read.complaint}`)
  const { entries, places, isFullAnswer, wrong, isCut, leftOut } = read
  const note = sayLeftOut(leftOut, organization)
  if (wrong.length > 0)
    throw new Failure(`${sayWrong(source, wrong, isCut)}${note === null ? '' : `\n  ${note}`}`)
  if (note !== null) say(shell, `${source}: ${note}`)
  return { entries, places, isFullAnswer, source }
}

/** `isCut` says that there may be more mistakes than these. */
export function sayWrong(source: string, wrong: ReadServers['wrong'], isCut = false): string {
  const complaints = wrong
    .slice(0, COMPLAINTS_MAX)
    .map(({ place, message }) => `${place}: ${message}`)
  const more = wrong.length - COMPLAINTS_MAX
  const least = isCut ? 'at least ' : ''
  const listed = [...complaints, ...(more > 0 ? [`and ${least}${count(more)} more`] : [])]
  return `nothing was imported from ${source}:\n  ${listed.join('\n  ')}`
}
