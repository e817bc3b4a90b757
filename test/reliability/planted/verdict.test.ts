import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { runTests } from '../../../scripts/mutation/copied-tree.ts'
import { syntaxErrorIn, type Verdict, verdictOf } from '../../../scripts/mutation/verdict.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'

/*
 * The runs of a test that prove that it noticed a mistake. The runs are real.
 */

const NAMED = "the sum is right: #1, \\ and 'two'"
const IMPORTS = `import assert from 'node:assert'; import { test } from 'node:test'; import { sum } from './sum.mjs'\n`
const TESTS = `${IMPORTS}
  test(${JSON.stringify(NAMED)}, () => assert.equal(sum(1, 2), 3))
  test('another', () => {})
`
const RIGHT = 'export const sum = (a, b) => a + b'

const CASES: [what: string, code: string, tests: string, Verdict][] = [
  ['the named test fails', 'export const sum = (a, b) => a - b', TESTS, 'noticed'],
  ['the named test passes', RIGHT, TESTS, 'SURVIVED'],
  ['the code cannot be parsed', 'export const sum = (a, b) => a +', TESTS, 'UNSOUND'],
  ['a module is missing', `import './gone.mjs'\n${RIGHT}`, TESTS, 'UNSOUND'],
  ['an export is missing', 'export const total = 3', TESTS, 'UNSOUND'],
  ['another thing fails', RIGHT, `${TESTS}\nthrow new Error('elsewhere')`, 'UNSOUND'],
]

suite('the verdict on a planted mistake', { concurrency: 3 }, () => {
  for (const [what, code, tests, verdict] of CASES)
    test(`${what}: ${verdict}`, async (t) => {
      const folder = temporaryFolder(t)
      writeFileSync(join(folder, 'sum.mjs'), code)
      writeFileSync(join(folder, 'sum.test.mjs'), tests)
      const run = await runTests(folder, {}, 'sum.test.mjs', { only: NAMED })
      assert.equal(verdictOf(run, NAMED), verdict, run.output)
    })

  test('a test that hangs because of a mistake has noticed it', () => {
    const run = { passed: 0, failed: 1, timedOut: true, output: '' }
    assert.equal(verdictOf(run, NAMED), 'noticed')
  })
})

test('code that cannot be parsed is found before a test runs', () => {
  assert.equal(syntaxErrorIn('src/a.ts', 'export const a: number = 1'), null)
  assert.match(String(syntaxErrorIn('src/a.ts', 'export const a: number = ')), /ERR_INVALID/)
  assert.equal(syntaxErrorIn('src/a.sql', 'SELECT'), null)
})
