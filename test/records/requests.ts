import { isDeepStrictEqual } from 'node:util'
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

/** What each person gets, once if all get the same. */
export async function askAll(
  asked: Asked,
  personCalled: (name: string) => Promise<Person>,
): Promise<string[]> {
  const all: [name: string, lines: string[]][] = []
  for (const name of asked.people) {
    const person = await personCalled(name)
    all.push([name, await describe(person, asked, await send(person, asked))])
  }
  const alike = Map.groupBy(all, ([, lines]) => lines.join('\n'))
  return [...alike.values()].flatMap((group) => {
    const names = group.map(([name]) => name)
    const [, lines] = group[0]!
    return isDeepStrictEqual(names, asked.people) ? lines : [`${names.join(', ')}:`, ...lines]
  })
}

function send(person: Person, { method, path, fields, headers }: Asked): Promise<Answer> {
  if (method === 'GET') return person.get(path, headers)
  if (method === 'UPLOAD') return person.upload(path, fields)
  return person.post(path, fields, { 'Sec-Fetch-Site': 'same-origin', ...headers })
}

/**
 * The status and the title or the address of a redirect, then what a person reads: all of a page,
 * its messages if it answers a form, or the headings of a document. After a redirect these are the
 * messages of the next page.
 */
async function describe(
  person: Person,
  { method, path }: Asked,
  { status, headers, body }: Answer,
): Promise<string[]> {
  const { location } = headers
  if (typeof location === 'string') {
    const isNext = method !== 'GET' && location.startsWith('/dashboard')
    const next = isNext ? await person.get(location.replace(/#.*/, '')) : null
    return [`= ${status} ${location}`, ...indented(next === null ? [] : messagesOf(next.body))]
  }
  const type = String(headers['content-type']).replace(/;.*/, '')
  const lines = body.trimEnd().split('\n')
  if (type !== 'text/html')
    return [`= ${status} ${type}`, ...indented(lines.length > LINES_MAX ? [] : lines)]
  const messages = method === 'GET' ? [] : messagesOf(body)
  const page = path.startsWith('/docs') ? headingsOf(body) : contentOf(body)
  return [`= ${status} ${titleOf(body)}`, ...indented(messages.length > 0 ? messages : page)]
}

const indented = (lines: readonly string[]) => lines.map((line) => `    ${line}`)
