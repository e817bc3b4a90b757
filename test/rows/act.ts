import type { Fields } from '../fixtures/person.ts'

/**
 * One thing that happens on the site. In its texts, `<key:bot>` stands for the id that the record
 * gives this name.
 */
export type Act =
  | Form
  | Command
  | { claim: string }
  | { sql: string }
  | { service: 'starts' | 'ends' }

export interface Form {
  by: string
  post: string
  fields: Fields
  file?: string
}

export interface Command {
  command: string
  stdin: string
  /** On another database, which the record does not watch. */
  isAside?: true
  /** Its outcome depends on the machine. */
  mayFail?: true
}

/** The act in one line of the record. */
export function titleOf(act: Act): string {
  if ('post' in act) {
    const fields = Object.entries(act.fields).map(([name, value]) => `${name}=${value}`)
    const file = act.file === undefined ? [] : ['file']
    return [act.by, 'POST', act.post, ...fields, ...file].join(' ')
  }
  if ('service' in act) return `the service ${act.service}`
  if ('claim' in act) return `GET /v1/servers with ${act.claim}`
  if ('sql' in act) return `SQL: ${act.sql}`
  const stdin = act.stdin.replaceAll('\n', '\\n')
  const input = stdin.length > INPUT_SHOWN ? `${stdin.slice(0, INPUT_SHOWN)}…` : stdin
  return `${act.isAside ? 'aside ' : ''}$ ${act.command}${input === '' ? '' : ` < ${input}`}`
}

/** Characters of the standard input in the title of a command. */
const INPUT_SHOWN = 60
