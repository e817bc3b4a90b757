import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesBelow, filesIn, ROOT } from './fixtures/tree.ts'

/*
 * The rules of STYLE.md for prose, as far as a program can check them.
 */

const documents = [
  ...filesIn('.', '.md'),
  ...filesIn('client', '.md'),
  ...filesBelow('docs', '.md'),
]
const sources = ['src', 'client/src', 'test', 'bin', 'demo', 'bench', 'scripts'].flatMap((folder) =>
  filesBelow(folder, 's'),
)
const WIDTH_MAX = 100

test('documents are at most 100 columns wide, except in tables', () => {
  for (const { path, text } of documents)
    for (const [index, line] of text.split('\n').entries())
      if (!line.startsWith('|'))
        assert.ok([...line].length <= WIDTH_MAX, `${path}:${index + 1} is too wide`)
})

test('every file that a document names exists', () => {
  // An older decision may name a file of its time.
  const present = documents.filter(({ text }) => !/^\d{4}-\d\d-\d\d · superseded/m.test(text))
  const missing = present.flatMap(({ path, text }) =>
    [...text.matchAll(FILE_NAME)]
      .map(([name]) => name)
      .filter((name) => !['', 'src', 'test'].some((folder) => existsSync(join(ROOT, folder, name))))
      .map((name) => `${path} names ${name}`),
  )
  assert.deepEqual(missing, [])
})

/** A path with a folder that the repository has, and the ending of a source file. */
const FILE_NAME = new RegExp(
  `(?<![\\w./:-])(?:${[
    'src|test|docs|bench|bin|demo|deploy|scripts',
    'api|claims|cli|conform|dashboard|http|listing|management|ops|postgres|sign-in|sqlite|transfer|usage',
  ].join('|')})/[\\w./-]+\\.(?:ts|js|sql|md|cfg|conf)\\b`,
  'g',
)

test('prose names the actor instead of an unknown person', () => {
  const found = [...documents, ...sources].flatMap(({ path, text }) =>
    text
      .split('\n')
      .map((line, index) => `${path}:${index + 1}: ${line.trim()}`)
      .filter((line) => UNKNOWN_PERSON.test(line.replaceAll(QUOTED_WORD, ''))),
  )
  assert.deepEqual(found, [])
})

const WORDS = ['nobody', 'somebody', 'anybody', 'whoever']
const UNKNOWN_PERSON = new RegExp(`\\b(?:${WORDS.join('|')})\\b`, 'i')
/** A name, such as that of the user `nobody`. */
const QUOTED_WORD = /(['"`])\w+\1/g
