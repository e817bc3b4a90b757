import { writeFileSync } from 'node:fs'
import {
  type Answer,
  type Description,
  examplesOf,
  type Operation,
  readDescription,
  type Schema,
} from './description.ts'

/*
 * Writes docs/reference.md from docs/openapi.json.
 */

/** What every operation can answer, whatever its path. Its table stands once. */
const OF_EVERY_OPERATION = new Set(['400', '408', '414', '431', '505'])
const WIDTH_MAX = 100
const LISTING = '/v1/servers'
/** Headers that only some answers have stand beside these. */
const ON_EVERY_ANSWER = 'every answer'

if (import.meta.main) {
  const path = new URL('../../docs/reference.md', import.meta.url)
  writeFileSync(path, referenceOf(readDescription()))
}

/** The description as a page. */
export function referenceOf(description: Description): string {
  const { info, paths, components } = description
  const operations = Object.entries(paths).map(([path, { get }]) => showOperation(path, get))
  const { options } = paths[LISTING]!
  return `${[
    '# Reference',
    '`npm run reference` makes this page from [openapi.json](openapi.json), and tests compare that with every answer of the service.',
    '## In general',
    info.description,
    ...operations.flat(),
    '## OPTIONS on any path',
    'A preflight: the request that browsers send before a request to another origin.',
    ...showAnswers('OPTIONS', options),
    '## Broken requests',
    'Every operation has these answers too.',
    ...showTable('any request', answersOf(paths[LISTING]!.get, true)),
    '## Fields of a server',
    components.schemas.Server!.description!,
    ...showFields(components.schemas.Server!),
    '## The key',
    components.securitySchemes.apiKey.description,
    '## Headers',
    ...showHeaders(description),
  ]
    .map(wrapped)
    .join('\n\n')}\n`
}

function showOperation(path: string, operation: Operation): string[] {
  const { summary, description = '', security } = operation
  return [
    `## GET ${path}`,
    `${summary}. ${security === undefined ? 'This request needs a key.' : 'This request needs no key.'}`,
    ...description.split('\n\n').filter((each) => each !== ''),
    ...showAnswers(`GET ${path}`, operation),
    ...showExamples(operation),
  ]
}

function showAnswers(request: string, operation: Operation): string[] {
  return showTable(request, answersOf(operation, false))
}

function answersOf(operation: Operation, isBroken: boolean): [string, Answer][] {
  const all = Object.entries(operation.responses)
  return all.filter(([status]) => OF_EVERY_OPERATION.has(status) === isBroken)
}

/** The request names the table, because a screen reader lists all tables of a page. */
function showTable(request: string, answers: readonly [string, Answer][]): string[] {
  const rows = answers.map(
    ([status, answer]) => `| ${status} | ${answer.description} | ${showBodies(answer)} |`,
  )
  return [[`| status of ${request} | meaning | body |`, '|---|---|---|', ...rows].join('\n')]
}

/** The bodies of an answer in a cell. A listing has an example below the table. */
function showBodies({ content }: Answer): string {
  if (content === undefined) return 'none'
  const { schema } = content['application/json']
  if (schema.properties?.servers !== undefined) return 'see below'
  return examplesOf(content['application/json'])
    .map(({ value }) => `\`${JSON.stringify(value)}\``)
    .join(' or ')
}

function showExamples({ responses }: Operation): string[] {
  const content = responses[200]?.content?.['application/json']
  if (content?.examples === undefined) return []
  return examplesOf(content).flatMap(({ summary, value }) => [
    `${summary}:`,
    ['```json', JSON.stringify(value, null, 2), '```'].join('\n'),
  ])
}

function showFields({ properties = {} }: Schema): string[] {
  const rows = Object.entries(properties).map(
    ([name, { type, format, description }]) =>
      `| \`${name}\` | ${[type].flat().join(' or ')}${format === undefined ? '' : ` (${format})`} | ${description} |`,
  )
  return [['| field | type | meaning |', '|---|---|---|', ...rows].join('\n')]
}

function showHeaders({ paths }: Description): string[] {
  const answers = Object.values(paths).flatMap(({ get, options }) =>
    [get, options].flatMap(({ responses }) => Object.entries(responses)),
  )
  const names = new Set(answers.flatMap(([, { headers }]) => Object.keys(headers)))
  const rows = [...names].map((name) => {
    const having = answers.filter(([, { headers }]) => headers[name] !== undefined)
    const { schema, example, description } = having[0]![1].headers[name]!
    const statuses = [...new Set(having.map(([status]) => status))].toSorted().join(', ')
    const where = having.length === answers.length ? ON_EVERY_ANSWER : statuses
    const value = schema.const === undefined ? `for example \`${example}\`` : `\`${schema.const}\``
    return `| \`${name}\` | ${value} | ${where} | ${description} |`
  })
  return [['| header | value | on | meaning |', '|---|---|---|---|', ...rows].join('\n')]
}

/** Breaks the lines of a paragraph. Other blocks stay as they are. */
function wrapped(block: string): string {
  if (/^(?:#|\||```)/.test(block)) return block
  return block.split('\n\n').map(wrapParagraph).join('\n\n')
}

function wrapParagraph(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH_MAX) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}
