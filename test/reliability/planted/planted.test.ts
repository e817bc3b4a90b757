import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { syntaxErrorIn } from '../../../scripts/mutation/verdict.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { MUTANTS } from './mutants.ts'

test('every planted mistake can be made in exactly one place and still parses', () => {
  for (const { name, file, from, to } of MUTANTS) {
    const text = read(file)
    assert.equal(text.split(from).length - 1, 1, `${name}: its text in ${file}`)
    assert.notEqual(from, to, name)
    assert.equal(
      syntaxErrorIn(
        file,
        text.replace(from, () => to),
      ),
      null,
      name,
    )
  }
})

test('each planted mistake names a test that its file has', () => {
  const namesOf = new Map<string, string[]>()
  for (const { name, noticedBy } of MUTANTS) {
    if (!('test' in noticedBy)) continue
    const { test, only } = noticedBy
    assert.ok(existsSync(join(ROOT, test)), `${name}: ${test}`)
    const names = namesOf.get(test) ?? namesIn(test)
    namesOf.set(test, names)
    assert.ok(
      names.some((one) => one.includes(only)),
      `${name}: no test in ${test} is called "${only}"`,
    )
  }
})

test('no two planted mistakes have one name', () => {
  const names = MUTANTS.map(({ name }) => name)
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
})

const IMPORTED = /\bfrom '(\.[^']+)'/g
const NAME = /\b(?:test|suite)\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g

/** The names of a file's tests, with those of the suites that it imports. */
function namesIn(path: string, seen = new Set<string>()): string[] {
  if (seen.has(path) || !path.startsWith('test/')) return []
  seen.add(path)
  const text = read(path)
  const own = [...text.matchAll(NAME)].map(([, , name]) => name!)
  const imported = [...text.matchAll(IMPORTED)].map(([, from]) =>
    normalize(join(dirname(path), from!)),
  )
  return [...own, ...imported.flatMap((one) => namesIn(one, seen))]
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
