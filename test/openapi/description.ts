import { readFileSync } from 'node:fs'

/*
 * Reads docs/openapi.json, the description of the API.
 */

/** The part of OpenAPI 3.1 that the description uses, without references. */
export interface Description {
  info: { version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, PathItem>
  components: {
    securitySchemes: { apiKey: { description: string } }
    schemas: Record<string, Schema>
  }
}

export interface PathItem {
  get: Operation
  options: Operation
}

export interface Operation {
  operationId: string
  tags: [string]
  /** True for what no client calls. */
  'x-internal'?: boolean
  summary: string
  description?: string
  security?: object[]
  responses: Record<string, Answer>
}

export interface Answer {
  description: string
  headers: Record<string, Header>
  content?: { 'application/json': Content }
}

export interface Header {
  description: string
  required?: boolean
  schema: Schema
  example?: string
}

export interface Content {
  schema: Schema
  example?: unknown
  examples?: Record<string, { summary: string; value: unknown }>
}

export interface Schema {
  description?: string
  type?: string | string[]
  format?: string
  const?: string | number | boolean
  properties?: Record<string, Schema>
  items?: Schema
  allOf?: Schema[]
}

/** The answer to every path and method that the API does not have. */
export const UNKNOWN_PATH = '/{path}'

export function readDescription(): Description {
  const path = new URL('../../docs/openapi.json', import.meta.url)
  return withoutReferences(JSON.parse(readFileSync(path, 'utf8')))
}

/** Puts what each reference names in its place. The document has no circle of references. */
export function withoutReferences(document: object): Description {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    if ('$ref' in value) return resolve(targetOf(document, String(value.$ref)))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolve(each)]))
  }
  return resolve(document) as Description
}

function targetOf(document: object, reference: string): unknown {
  let target: unknown = document
  for (const name of reference.split('/').slice(1))
    target = (target as Record<string, unknown> | undefined)?.[name]
  if (target === undefined) throw new Error(`docs/openapi.json has no ${reference}`)
  return target
}

/** The examples of an answer's body, with what each shows. */
export function examplesOf(content: Content): { summary: string | null; value: unknown }[] {
  if (content.examples !== undefined) return Object.values(content.examples)
  return [{ summary: null, value: content.example }]
}
