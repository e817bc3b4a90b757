import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { filesBelow, filesIn, ROOT } from './fixtures/tree.ts'

/*
 * The shape of the code: what ARCHITECTURE.md draws and STYLE.md asks for, as far as a program can tell.
 */

const sources = filesBelow('src', '.ts')
const imports = new Map(sources.map(({ path, text }) => [path, importsOf(path, text)]))

/** Who may import whom, by folder; files that stand in src/ itself by their name. */
const MAY_IMPORT: Record<string, string[]> = {
  'main.ts': ['cli'],
  cli: [
    'config.ts',
    'database-url.ts',
    'open-store.ts',
    'open-accounts.ts',
    'service.ts',
    'log.ts',
    'accounts',
    'listing',
  ],
  'service.ts': ['log.ts', 'api', 'dashboard', 'http', 'listing'],
  'open-accounts.ts': ['config.ts', 'open-store.ts', 'accounts', 'listing'],
  'open-store.ts': ['database-url.ts', 'listing', 'postgres', 'sqlite'],
  'log.ts': ['config.ts', 'http'],
  'migrations.ts': [],
  'config.ts': ['database-url.ts', 'listing'],
  'database-url.ts': ['listing'],
  accounts: ['listing'],
  dashboard: ['http', 'listing'],
  api: ['http', 'listing'],
  sqlite: ['listing', 'migrations.ts'],
  postgres: ['listing', 'migrations.ts'],
  http: [],
  listing: [],
}

test('every folder imports only what it may', () => {
  for (const [path, targets] of imports) {
    const room = roomOf(path)
    const allowed = MAY_IMPORT[room]
    assert.ok(allowed !== undefined, `${path} stands in a room that the table does not know`)
    for (const target of targets)
      assert.ok(
        roomOf(target) === room || allowed.includes(roomOf(target)),
        `${path} must not import ${target}`,
      )
  }
})

test('no import goes round in a circle, those of types included', () => {
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]) => {
    assert.ok(!trail.includes(path), `a circle: ${[...trail, path].join(' → ')}`)
    if (done.has(path)) return
    for (const target of imports.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of imports.keys()) visit(path, [])
})

test('every file is reached from main.ts', () => {
  const reached = new Set<string>()
  const visit = (path: string) => {
    if (reached.has(path)) return
    reached.add(path)
    for (const target of imports.get(path) ?? []) visit(target)
  }
  visit('src/main.ts')
  assert.deepEqual(
    sources.map(({ path }) => path).filter((path) => !reached.has(path)),
    [],
  )
})

test('no file has more than 200 lines, and no line more than 120 characters', () => {
  for (const { path, text } of [
    ...sources,
    ...filesBelow('test', '.ts'),
    ...filesBelow('bench', '.ts'),
  ]) {
    const lines = text.split('\n')
    assert.ok(lines.length <= 201, `${path} has ${lines.length - 1} lines`)
  }
  for (const { path, text } of sources)
    for (const [index, line] of text.split('\n').entries())
      assert.ok(
        line.length <= 120 || line.includes('`'),
        `${path}:${index + 1} is ${line.length} wide`,
      )
})

test('no name says nothing', () => {
  const empty = /(^|\/)(utils?|helpers?|common|shared|misc|core|types|manager)(\.ts|\/)/
  for (const { path } of [...sources, ...filesBelow('test', '.ts')])
    assert.doesNotMatch(path, empty)
})

test('what belongs in one place is in one place', () => {
  assert.deepEqual(placesOf('createServer('), ['src/dashboard/listen.ts', 'src/http/listen.ts'])
  for (const path of placesOf(`'better-auth`)) assert.match(path, /^src\/accounts\//)
  assert.deepEqual(placesOf('Bun.'), [])
  for (const path of placesOf('host_label'))
    assert.ok(
      /^src\/((sqlite|postgres)\/|listing\/server\.ts)/.test(path),
      `${path} knows host_label`,
    )
  for (const path of placesOf('node:sqlite')) assert.match(path, /^src\/sqlite\//)
})

test("each sentence of the API's answers stands once", () => {
  const sentences = [
    'Invalid or missing API key.',
    'Not found.',
    'Rate limit exceeded',
    'Failed to load servers.',
    'Authentication service error.',
    'API server is not configured.',
  ]
  for (const sentence of sentences) {
    const count = sources.reduce((sum, { text }) => sum + text.split(`'${sentence}'`).length - 1, 0)
    assert.equal(count, 1, sentence)
  }
})

test('no test is left out', () => {
  for (const { path, text } of filesBelow('test', '.test.ts'))
    assert.doesNotMatch(
      text,
      /\b(test|suite|it|describe)\.(skip|only|todo)\b|\b(skip|only|todo): true/,
      path,
    )
})

test('what the documents link to is there', () => {
  const documents = [...filesBelow('docs', '.md'), ...filesIn('.', '.md')]
  for (const { path, text } of documents)
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)/g))
      assert.ok(existsSync(join(ROOT, dirname(path), target)), `${path} links to ${target}`)
})

function placesOf(needle: string): string[] {
  return sources.filter(({ text }) => text.includes(needle)).map(({ path }) => path)
}

function importsOf(path: string, text: string): string[] {
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return [...found].map(([, target = '']) => normalize(join(dirname(path), target)))
}

function roomOf(path: string): string {
  return path.split('/')[1] ?? ''
}
