import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { examplesOf, readDescription } from './description.ts'
import { ROOT } from '../fixtures/tree.ts'

/*
 * The documents beside docs/openapi.json say the same.
 */

test('docs/api.md has each answer of the API, with its cause and what to do', () => {
  const [, ...sections] = readFileSync(join(ROOT, 'docs/api.md'), 'utf8').split(/^##+ /m)
  const described = sections.filter((section) => /^\d/.test(section))
  for (const section of described)
    assert.match(section, /\n\n\*\*When\.\*\* .+\n\n\*\*Why\.\*\* .+\n\n\*\*What to do\.\*\* /s)
  const headings = described.map((section) => section.slice(0, section.indexOf('\n')))
  assert.deepEqual(headings.toSorted(), [...headingsOfAnswers()].toSorted())
})

/** The status of each answer, with the sentence of an error. */
function headingsOfAnswers(): Set<string> {
  const operations = Object.values(readDescription().paths).flatMap(({ get, options }) => [
    get,
    options,
  ])
  const answers = operations.flatMap(({ responses }) => Object.entries(responses))
  return new Set(
    answers.flatMap(([status, { content }]) => {
      const values = content === undefined ? [] : examplesOf(content['application/json'])
      const errors = values.flatMap(({ value }) => (value as { error?: string }).error ?? [])
      return errors.length === 0 ? [status] : errors.map((error) => `${status} ${error}`)
    }),
  )
}
