import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Answer } from '../fixtures/requests.ts'
import { type Schema, withoutReferences } from '../openapi/description.ts'

/*
 * Compares each answer of the management API with docs/management-openapi.json.
 */

interface Described {
  headers: Record<string, { required?: boolean; schema: Schema }>
  content: { 'application/json': { schema: Schema; example?: unknown } }
}

interface Operation {
  responses: Record<string, Described>
  requestBody?: { content: { 'application/json': { schema: Schema; example?: unknown } } }
}

export interface Description {
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
}

const PATH = new URL('../../docs/management-openapi.json', import.meta.url)
export const description = withoutReferences(
  JSON.parse(readFileSync(PATH, 'utf8')),
) as unknown as Description

/** Statuses for what is no request of the API. */
const OF_LISTENER = [400, 401, 408, 421, 431]
const ERROR: Schema = {
  type: 'object',
  properties: { error: { type: 'string' } },
}

const ajv = new Ajv2020({ allowUnionTypes: true, strict: false })
ajv.addFormat('uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
ajv.addFormat('uri', (text) => URL.canParse(text))
const compiled = new Map<Schema, ValidateFunction>()

/** What an answer has that the description does not, or the other way round. */
export function flawsOf(line: string, { status, headers, body }: Answer): string[] {
  const [method = '', target = ''] = line.split(' ')
  const described = operationOf(method, target.split('?')[0]!)?.responses[status]
  if (described === undefined) {
    const isKnown = operationOf(method, target.split('?')[0]!) !== null
    if (isKnown && !OF_LISTENER.includes(status)) return [`${status} is not described`]
    return method === 'HEAD' ? [] : bodyFlaws(ERROR, body)
  }
  const missing = Object.entries(described.headers).flatMap(([name, { required, schema }]) => {
    const value = headers[name.toLowerCase()]
    if (value === undefined) return required ? [`${name} is missing`] : []
    return schema.const === undefined || schema.const === value
      ? []
      : [`${name} is ${String(value)}`]
  })
  return [...missing, ...bodyFlaws(described.content['application/json'].schema, body)]
}

export function bodyFlaws(schema: Schema, body: string): string[] {
  const validate = compiled.get(schema) ?? ajv.compile(closed(schema))
  compiled.set(schema, validate)
  return validate(JSON.parse(body)) ? [] : validate.errors!.map((one) => ajv.errorsText([one]))
}

function operationOf(method: string, path: string): Operation | null {
  for (const [template, operations] of Object.entries(description.paths)) {
    const pattern = template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')
    if (new RegExp(`^${pattern}$`).test(path)) return operations[method.toLowerCase()] ?? null
  }
  return null
}

/** Its objects are open, because a later version may add fields. Here they are closed. */
function closed(schema: Schema): Schema {
  const { properties, items } = schema
  if (items !== undefined) return { ...schema, items: closed(items) }
  if (properties === undefined) return schema
  const fields = Object.entries(properties).map(([name, each]) => [name, closed(each)])
  return {
    ...schema,
    properties: Object.fromEntries(fields),
    additionalProperties: false,
  } as Schema
}
