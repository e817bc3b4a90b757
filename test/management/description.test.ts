import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../fixtures/tree.ts'
import { bodyFlaws, description } from './described.ts'
import { openDoor } from './door.ts'

/* docs/management-openapi.json. The other tests compare each answer with it. */

const text = readFileSync(join(ROOT, 'docs/management-openapi.json'), 'utf8')

test('the service serves the description to a known token', async (t) => {
  const door = await openDoor(t)
  assert.equal((await door.send('GET /v1/openapi.json')).body, text)
  assert.equal((await door.send('GET /v1/openapi.json', { token: null })).status, 401)
})

test('each example of the description fits its schema', () => {
  const operations = Object.values(description.paths).flatMap((path) => Object.values(path))
  const contents = operations.flatMap(({ requestBody, responses }) => [
    ...(requestBody === undefined ? [] : [requestBody.content]),
    ...Object.values(responses).map(({ content }) => content),
  ])
  for (const { 'application/json': content } of contents)
    if (content.example !== undefined)
      assert.deepEqual(bodyFlaws(content.schema, JSON.stringify(content.example)), [])
})

test('the description has the version of the program, and docs/management.md each path', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string
  }
  assert.equal(description.info.version, version)
  const page = readFileSync(join(ROOT, 'docs/management.md'), 'utf8')
  for (const path of Object.keys(description.paths))
    assert.ok(page.includes(path.replace('{external_id}', '4711').replace('{id}', 'KEY_ID')), path)
})
