import type { Fields, Person } from '../fixtures/person.ts'
import type { Answer } from '../fixtures/requests.ts'
import { wordsOf } from './commands.ts'
import { contentOf, headingsOf, messagesOf, titleOf } from './page-text.ts'

/** Who asks, with which method for which address, and with which form or headers. */
export interface Asked {
  people: string[]
  method: 'GET' | 'POST' | 'UPLOAD'
  path: string
  fields: Fields
  headers: Record<string, string>
}

/** The most lines of an answer that is no page. */
const LINES_MAX = 20

/** Reads `ada,bob POST /path field=value "Header: value"`. */
export function readRequest(text: string): Asked {
  const [people = '', method, path = '', ...rest] = wordsOf(text)
  return {
    people: people.split(','),
    method: method as Asked['method'],
    path,
    fields: Object.fromEntries(
      rest.filter((word) => !HEADER.test(word)).map((word) => split(word, /=(.*)/s)),
    ),
    headers: Object.fromEntries(
      rest.filter((word) => HEADER.test(word)).map((word) => split(word, /: (.*)/s)),
    ),
  }
}

const HEADER = /^[A-Z][\w-]*: /

function split(word: string, at: RegExp): [string, string] {
  const [name = '', value = ''] = word.split(at)
  return [name, value]
}

/** Sends a request as a page of the dashboard does. */
export function send(person: Person, { method, path, fields, headers }: Asked): Promise<Answer> {
  if (method === 'GET') return person.get(path, headers)
  if (method === 'UPLOAD') return person.upload(path, fields)
  return person.post(path, fields, { 'Sec-Fetch-Site': 'same-origin', ...headers })
}

/** What a person gets for a request. */
export interface Described {
  lines: string[]
  /** The page that the browser shows at last; empty if that is no page. */
  page: string
}

/**
 * The status and the title or the address of a redirect, then what a person reads: all of a page,
 * its messages if it answers a form, or the headings of a document. After a redirect these are the
 * messages of the next page.
 */
export async function describe(
  person: Person,
  { method, path }: Asked,
  { status, headers, body }: Answer,
): Promise<Described> {
  const { location } = headers
  if (typeof location === 'string') {
    const isNext = method !== 'GET' && location.startsWith('/dashboard')
    const page = isNext ? (await person.get(location.replace(/#.*/, ''))).body : ''
    return { lines: [`= ${status} ${location}`, ...indented(messagesOf(page))], page }
  }
  const type = String(headers['content-type']).replace(/;.*/, '')
  const lines = body.trimEnd().split('\n')
  if (type !== 'text/html')
    return {
      lines: [`= ${status} ${type}`, ...indented(lines.length > LINES_MAX ? [] : lines)],
      page: '',
    }
  const messages = method === 'GET' ? [] : messagesOf(body)
  const all = path.startsWith('/docs') ? headingsOf(body) : contentOf(body)
  return {
    lines: [`= ${status} ${titleOf(body)}`, ...indented(messages.length > 0 ? messages : all)],
    page: body,
  }
}

const indented = (lines: readonly string[]) => lines.map((line) => `    ${line}`)
