import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import {
  type Answer,
  type Description,
  type Operation,
  type Schema,
  UNKNOWN_PATH,
} from './description.ts'
import type { RawAnswer } from '../wire/client/read-answer.ts'

/** A request, as far as it could be read, and its answer. */
export interface Exchange {
  method: string
  /** Without the query. */
  path: string
  answer: Pick<RawAnswer, 'status' | 'headers' | 'body'>
}

/** What an answer has that the description does not, or the other way round. */
export type Validate = (exchange: Exchange) => string[]

/** HTTP's own headers, which a description leaves out. OpenAPI ignores `Content-Type`. */
const OF_HTTP = new Set(['date', 'connection', 'keep-alive', 'content-length', 'content-type'])
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Compares exchanges with a description of the API. Its objects are open, because a later version
 * may add fields. Here they are closed, so that a field that the description lacks is a flaw.
 */
export function createValidator(description: Description): Validate {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true })
  ajv.addFormat('uuid', UUID)
  const compiled = new Map<Schema, ValidateFunction>()
  const flawsOf = (schema: Schema, value: unknown, name: string): string[] => {
    const validate = compiled.get(schema) ?? ajv.compile(schema)
    compiled.set(schema, validate)
    if (validate(value)) return []
    return validate.errors!.map(({ instancePath, message = '', params }) => {
      const where = `${name}${instancePath}`
      return `${where} ${message} ${JSON.stringify(params)}, not ${JSON.stringify(value)}`
    })
  }
  const closed = new Map<Schema, Schema>()
  const closedFlawsOf: FlawsOf = (schema, value, name) => {
    const strict = closed.get(schema) ?? closedSchema(schema)
    closed.set(schema, strict)
    return flawsOf(strict, value, name)
  }

  return (exchange) => {
    const { method, answer } = exchange
    const { path, operation } = operationOf(description, exchange)
    const described = operation.responses[answer.status]
    const flaws =
      described === undefined
        ? ['the status is not in the document']
        : [
            ...headerFlaws(described, answer.headers, flawsOf),
            ...bodyFlaws(described, exchange, closedFlawsOf),
          ]
    return flaws.map((flaw) => `${method} ${path} ${answer.status}: ${flaw}`)
  }
}

/** The schema without room for other fields, in objects and in lists of them. */
function closedSchema(schema: Schema): object {
  const { properties = {}, items, allOf } = schema
  if (allOf !== undefined) return { ...schema, unevaluatedProperties: false }
  if (items !== undefined) return { ...schema, items: closedSchema(items) }
  if (schema.type !== 'object') return schema
  const fields = Object.entries(properties).map(([name, each]) => [name, closedSchema(each)])
  return { ...schema, properties: Object.fromEntries(fields), additionalProperties: false }
}

type FlawsOf = (schema: Schema, value: unknown, name: string) => string[]

/** The operation of a request. All others have the answer of an unknown path. */
export function operationOf(
  { paths }: Description,
  { method, path }: Pick<Exchange, 'method' | 'path'>,
): { path: string; operation: Operation } {
  const known = path === UNKNOWN_PATH || paths[path] === undefined ? UNKNOWN_PATH : path
  if (method === 'OPTIONS') return { path: known, operation: paths[known]!.options }
  if (method === 'GET') return { path: known, operation: paths[known]!.get }
  return { path: UNKNOWN_PATH, operation: paths[UNKNOWN_PATH]!.get }
}

function headerFlaws(
  described: Answer,
  sent: Readonly<Record<string, string>>,
  flawsOf: FlawsOf,
): string[] {
  const headers = new Map(
    Object.entries(described.headers).map(([name, header]) => [name.toLowerCase(), header]),
  )
  const missing = [...headers].flatMap(([name, { required = false }]) =>
    required && sent[name] === undefined ? [`the header ${name} is missing`] : [],
  )
  const wrong = Object.entries(sent).flatMap(([name, value]) => {
    if (OF_HTTP.has(name)) return []
    const header = headers.get(name)
    if (header === undefined) return [`the header ${name} is not in the document`]
    const isNumber = header.schema.type === 'integer'
    return flawsOf(header.schema, isNumber ? Number(value) : value, `the header ${name}`)
  })
  return [...missing, ...wrong]
}

function bodyFlaws(
  { content }: Answer,
  { method, answer: { headers, body } }: Exchange,
  flawsOf: FlawsOf,
): string[] {
  if (headers['content-type'] !== 'application/json; charset=utf-8')
    return [`the content type is ${headers['content-type']}`]
  if (method === 'HEAD') return body === '' ? [] : ['an answer to HEAD has a body']
  if (content === undefined) return body === '' ? [] : ['the document has no body']
  const json = content['application/json']
  if (json === undefined) return ['the document has no application/json']
  return flawsOf(json.schema, JSON.parse(Buffer.from(body, 'latin1').toString()), 'the body')
}
