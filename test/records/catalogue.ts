import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { everyRoute, type ProgramRoute } from '../dashboard/every-route.ts'
import { kindOf, readForms, type Submission } from '../dashboard/forms/read-forms.ts'
import { type Asked, readRequest } from './requests.ts'
import { type Input, readTranscript } from './transcript.ts'

/*
 * The catalogue of the dashboard's pages and forms: the inputs in requests/ with their records.
 */

const FOLDER = join(import.meta.dirname, 'requests')
/** The transcripts. */
export const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name))

/** An input, and what its record says of the first person. */
export interface Entry {
  /** The name of the transcript. */
  file: string
  input: Input
  /** With names in braces. */
  asked: Asked
  route: ProgramRoute
  /** The same for inputs that send the same form of a page. */
  form: string
  status: number
  /** The status if another copy of the browser sends it again. */
  repeated: number
  /** The rows that it changes, on each engine. */
  rows: string[]
  /** The rows that another copy changes. */
  rowsAgain: string[]
}

/** Every page and form, by the first input of the catalogue that has success. */
export function everyEntry(): Entry[] {
  const found = new Map<string, Entry>()
  for (const entry of everyInput())
    if (entry.status < 400 && !found.has(entry.form)) found.set(entry.form, entry)
  return [...found.values()]
}

/** Every input that begins with the first rows. */
export function everyInput(): Entry[] {
  return FILES.flatMap((file) =>
    readTranscript(file)
      .filter(({ goesOn }) => !goesOn)
      .map((input) => entryOf(basename(file, '.txt'), input)),
  )
}

function entryOf(file: string, input: Input): Entry {
  const asked = readRequest(input.text)
  const lines = input.record
  const at = (start: RegExp) => {
    const found = lines.findIndex((line) => start.test(line))
    return found < 0 ? lines.length : found
  }
  const [again, others] = [at(/^again:/), at(/^others, /)]
  // It may have no record yet.
  const status = statusIn(lines) ?? 0
  const repeatedLines = lines.slice(again, Math.max(again, others))
  return {
    file,
    input,
    asked,
    route: routeOf(asked),
    form: formOf(asked),
    status,
    repeated: statusIn(repeatedLines) ?? status,
    rows: rowsIn(lines.slice(0, Math.min(again, others))),
    rowsAgain: rowsIn(repeatedLines),
  }
}

function statusIn(lines: readonly string[]): number | undefined {
  const line = lines.find((one) => one.startsWith('= '))
  return line === undefined ? undefined : Number(line.slice(2, 5))
}

function rowsIn(lines: readonly string[]): string[] {
  return lines.filter((line) => /^ {2}\w/.test(line)).map((line) => line.slice(2))
}

const ROUTES = everyRoute().map((route) => ({ ...route, pattern: patternOf(route.path) }))

export function routeOf({ method, path }: Pick<Asked, 'method' | 'path'>): ProgramRoute {
  const [asked = ''] = path.replaceAll(/\{\w+\}/g, 'x').split('?')
  const isOf = (route: (typeof ROUTES)[0]) =>
    (route.method === 'GET') === (method === 'GET') && route.pattern.test(asked)
  return ROUTES.find(isOf) ?? { method: method === 'GET' ? 'GET' : 'POST', path: asked }
}

function patternOf(path: string): RegExp {
  const pattern = path
    .replaceAll('.', String.raw`\.`)
    .replaceAll(/:\w+(?:\{[^}]*\})?/g, '[^/]+')
    .replace(/\/\*$/, '(?:/.*)?')
  return new RegExp(`^${pattern}$`)
}

/** The route, with the names of the fields and the button. A page differs by its route alone. */
export function formOf(asked: Asked): string {
  const { method, path } = routeOf(asked)
  if (method === 'GET') return `GET ${path}`
  const { to = '' } = asked.fields
  return [method, path, ...Object.keys(asked.fields).toSorted(), to].join(' ').trimEnd()
}

let entries: Entry[] | undefined

/** Throws if the page has a form that no input of the catalogue sends with success. */
export function assertSent(body: string): void {
  if (process.env.RECORD === '1') return
  entries ??= everyEntry().filter(({ asked }) => asked.method !== 'GET')
  for (const form of readForms(body))
    assert.ok(
      entries.some(({ asked }) => isOf(asked, form)),
      `no record has a success of the form \`${form.name}\` with ${form.fields.map(([name]) => name).join(', ')}`,
    )
}

/** True if the input sends this form with this button. A checkbox has a number for its name. */
function isOf({ path, fields }: Asked, form: Submission): boolean {
  if (patternless(path) !== patternless(form.path)) return false
  const [, ...words] = form.name.split(/ (?=\w[\w-]*=)/)
  // The page "Is it you?" adds the password to what a form has sent.
  const known = ['password', ...form.fields.map(([name]) => name)]
  const sent = Object.entries(fields)
  return (
    sent.every(([name]) => known.includes(name) || /^\d+$/.test(name)) &&
    (fields.form !== undefined || !known.includes('form')) &&
    words.every((word) => sent.some(([name, value]) => `${name}=${kindOf(value)}` === word))
  )
}

/** The address without ids. */
function patternless(path: string): string {
  return routeOf({ method: 'POST', path }).path
}
