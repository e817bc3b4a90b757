import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { filesBelow, filesIn, ROOT } from './fixtures/tree.ts'
import { codeBlocksOf } from './operations/documents/code-blocks.ts'
import { WALKED } from './operations/documents/walked.ts'
import { guideParts } from './operations/guide/blocks.ts'

/*
 * The rules of STYLE.md for prose and documents, as far as a program can check them.
 */

const documents = [
  ...filesIn('.', '.md'),
  ...filesIn('client', '.md'),
  ...filesBelow('docs', '.md'),
  ...filesIn('test', 'mutation.md'),
  ...filesBelow('test/reliability', '.md'),
]
const sources = ['src', 'client/src', 'conform', 'test', 'bin', 'demo', 'bench', 'scripts'].flatMap(
  (folder) => filesBelow(folder, 's'),
)
const WIDTH_MAX = 100

test('documents are at most 100 columns wide, except in tables', () => {
  for (const { path, text } of documents)
    for (const [index, line] of text.split('\n').entries())
      if (!line.startsWith('|'))
        assert.ok([...line].length <= WIDTH_MAX, `${path}:${index + 1} is too wide`)
})

test('every file that a document names exists', () => {
  const missing = documents.flatMap(({ path, text }) =>
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
    'accounts|api|archive|claims|cli|config|conform|dashboard|database|directory|http|keys|log|management|model|ops|organizations|postgres|servers|sqlite|state|terminal|web',
  ].join('|')})/[\\w./-]+\\.(?:ts|js|sql|md|cfg|conf)\\b`,
  'g',
)

const DECISIONS_MAX = 25

test('at most 25 decisions stay, and their list names each with its title', () => {
  const files = filesIn('docs/decisions', '.md')
  const list = files.find(({ path }) => path.endsWith('/README.md'))!.text
  const pages = files.filter(({ path }) => /\/\d{4}-[\w-]+\.md$/.test(path))
  assert.equal(pages.length, files.length - 1)
  assert.ok(pages.length <= DECISIONS_MAX, `${pages.length} decisions`)
  const rows = pages.map(({ path, text }) => {
    const [, number, title] = /^# (\d+)\. (.+)\n/.exec(text) ?? []
    return `| ${number} | [${title}](${basename(path)}) |`
  })
  const listed = list.match(/^\| \d+ \| \[.+\]\(.+\) \|/gm)
  assert.deepEqual(listed, rows)
})

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

const COMMANDS = ['sh', 'sql', 'ts', 'js', 'py', 'go']
/** Blocks that are read: output, data and configuration. */
const READ = ['text', 'json', 'csv', 'http', 'ini', 'yaml', 'nginx']
/** Documents with tests of their own, and those that operations/documents/ walks through. */
const RUN = new Set(['docs/integrators.md', 'docs/declared-state.md', 'docs/site.md', ...WALKED])
/** Documents whose blocks of SQL run, too. */
const SQL_RUN = new Set(['docs/site.md'])
const parts = guideParts()
const guide = new Set(parts.flatMap(({ blocks: ofPart }) => ofPart.map(({ at }) => at)))
/** Remove from it, don't add to it. */
const NOT_RUN_MAX = 20

const blocks = documents
  .filter(({ path }) => path === 'README.md' || path.startsWith('docs/'))
  .flatMap(({ path, text }) => codeBlocksOf(text, path).map((block) => ({ ...block, path })))

const shellLines = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ at, text }) => text.split('\n').map((line) => ({ at, line })))

test('every block of a document has a language that says whether it is run', () => {
  for (const { at, language } of blocks)
    assert.ok([...COMMANDS, ...READ].includes(language), `${at}: the language is "${language}"`)
})

test('every block of commands is run by a test, or says why not', () => {
  for (const { at, path, language, notRun } of blocks)
    if (COMMANDS.includes(language)) {
      const isRun =
        (language === 'sh' && (RUN.has(path) || guide.has(at))) ||
        (language === 'sql' && SQL_RUN.has(path))
      assert.ok(isRun || notRun !== null, `${at} is neither run nor marked: <!-- not run: … -->`)
    } else assert.equal(notRun, null, `${at}: a block in ${language} is never run`)
  const notRun = blocks.filter((block) => block.notRun !== null)
  assert.ok(notRun.length <= NOT_RUN_MAX, notRun.map(({ at }) => at).join('\n'))
})

test('no command that a document shows gives curl a header as an argument', () => {
  // Other users of the machine can see arguments, and the header has the key.
  const found = shellLines.filter(({ line }) => /(?:^|\s)(?:-H|--header)(?![ =]@)/.test(line))
  assert.deepEqual(found, [])
})

test('a document writes a key only to a file that its user alone can read', () => {
  const writing = blocks.filter(({ text }) => /key issue .*> /.test(text))
  assert.ok(writing.length > 5)
  const open = writing.filter(({ text }) => !text.includes('umask 077'))
  assert.deepEqual(
    open.map(({ at }) => at),
    [],
  )
})

test('commands that a document shows have no comments', () => {
  // An interactive zsh reads a comment as arguments.
  const found = shellLines.filter(({ line }) => /(?:^|\s)#/.test(line))
  assert.deepEqual(found, [])
})

test('every document that a test runs has a block of commands', () => {
  const withCommands = new Set(
    blocks.filter(({ language, notRun }) => language === 'sh' && notRun === null),
  )
  for (const page of RUN)
    assert.ok(
      [...withCommands].some(({ path }) => path === page),
      page,
    )
  for (const { name, blocks: ofPart } of parts)
    assert.ok(
      ofPart.some(({ notRun }) => notRun === null),
      name,
    )
})
