import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import {
  type Answer,
  type Description,
  examplesOf,
  readDescription,
  withoutReferences,
} from './description.ts'
import { causeEveryAnswer } from './every-answer.ts'
import { PLANTED } from './planted.ts'
import { createValidator, type Exchange, operationOf } from './validator.ts'

/*
 * docs/openapi.json describes the API exactly: no more and no less than the service sends. The
 * tests in test/api/ compare every answer with it too.
 */

const DOCUMENT = new URL('../../docs/openapi.json', import.meta.url)
const description = readDescription()
const validate = createValidator(description)

const cleanups: (() => unknown)[] = []
let exchanges: Exchange[]

before(async () => {
  exchanges = await causeEveryAnswer(
    { after: (cleanup) => void cleanups.push(cleanup as () => void) },
    validate,
  )
})
after(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
})

test('the service sends every answer of the document, and each fits the document', () => {
  assert.deepEqual(exchanges.flatMap(validate), [])
  const seen = exchanges
    .filter(({ method }) => method === 'GET' || method === 'OPTIONS')
    .map((exchange) => `${exchange.method} ${pathOf(exchange)} ${exchange.answer.status}`)
  const described = Object.entries(description.paths).flatMap(([path, { get, options }]) =>
    Object.entries({ GET: get, OPTIONS: options }).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method} ${path} ${status}`),
    ),
  )
  assert.deepEqual([...new Set(seen)].toSorted(), described.toSorted())
})

test('the examples of errors and of the health are the bytes that the service sends', () => {
  const sent = new Set(exchanges.map(({ answer }) => `${answer.status} ${answer.body}`))
  for (const [status, { content }] of answers())
    if (
      content !== undefined &&
      content['application/json'].schema.properties?.servers === undefined
    )
      for (const { value } of examplesOf(content['application/json']))
        assert.ok(
          sent.has(`${status} ${JSON.stringify(value)}`),
          `${status} ${JSON.stringify(value)}`,
        )
})

test('every example fits its schema', () => {
  for (const [status, { content, headers }] of answers()) {
    for (const [name, header] of Object.entries(headers))
      if (header.schema.const === undefined)
        assert.ok(typeof header.example === 'string', `${name} has an example`)
    for (const { value } of content === undefined ? [] : examplesOf(content['application/json']))
      assert.deepEqual(flawsOfBody(status, value), [])
  }
})

test('each planted mistake in the document is found', () => {
  const text = readFileSync(DOCUMENT, 'utf8')
  for (const [name, { plant, found }] of Object.entries(PLANTED)) {
    const document = JSON.parse(text)
    plant(document)
    assert.notDeepEqual(document, JSON.parse(text), `${name}: nothing was planted`)
    const flaws = exchanges.flatMap(createValidator(withoutReferences(document)))
    assert.ok(
      flaws.some((flaw) => found.test(flaw)),
      `${name} was not found: ${flaws.join('\n')}`,
    )
  }
})

test('a client that validates strictly accepts the fields of a later version', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats: { uuid: true } })
  for (const [, { content }] of answers())
    if (content !== undefined) {
      const { schema } = content['application/json']
      for (const { value } of examplesOf(content['application/json'])) {
        const later = JSON.parse(JSON.stringify(value).replaceAll('}', ',"later":1}'))
        assert.ok(ajv.validate(schema, later), JSON.stringify(later))
      }
    }
})

test('each answer stands whole in its operation, because some generators lose a reference', () => {
  const { paths, servers } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as Description
  for (const { get, options } of Object.values(paths))
    for (const answer of [get, options].flatMap(({ responses }) => Object.values(responses)))
      assert.ok('description' in answer)
  // Some generators take it as the default, without its variables.
  assert.deepEqual(
    servers.map(({ url }) => url),
    ['http://127.0.0.1:8080'],
  )
})

test('a generator can leave out what no client calls, by one tag', () => {
  const operations = Object.values(description.paths).flatMap(({ get, options }) => [get, options])
  const wanted = operations.filter(({ tags }) => !tags.includes('Internal'))
  assert.deepEqual(
    wanted.map(({ operationId }) => operationId),
    ['listServers', 'checkHealth'],
  )
  for (const operation of operations)
    assert.equal(operation['x-internal'] ?? false, !wanted.includes(operation))
})

test('the document has the version of the package', () => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  assert.equal(description.info.version, version)
  assert.ok(description.info.description.includes(`version ${version} of the service`))
})

function pathOf(exchange: { method: string; path: string }): string {
  return operationOf(description, exchange).path
}

/** Every answer of the document, with its status. */
function answers(): [status: string, answer: Answer][] {
  return Object.values(description.paths).flatMap(({ get, options }) =>
    [get, options].flatMap(({ responses }) => Object.entries(responses)),
  )
}

function flawsOfBody(status: string, value: unknown): string[] {
  const body = Buffer.from(JSON.stringify(value)).toString('latin1')
  const exchange = { method: 'GET', path: '/v1/servers' }
  if (status === '404') exchange.path = '/{path}'
  if (status === '200' && !body.includes('servers')) exchange.path = '/health'
  const { operation } = operationOf(description, exchange)
  const headers = Object.entries(operation.responses[status]!.headers).map(
    ([name, { schema, example }]) => [name.toLowerCase(), String(schema.const ?? example)],
  )
  const all = { 'content-type': CONTENT_TYPE, ...Object.fromEntries(headers) }
  return validate({ ...exchange, answer: { status: Number(status), headers: all, body } })
}

const CONTENT_TYPE = 'application/json; charset=utf-8'
