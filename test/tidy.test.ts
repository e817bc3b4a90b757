import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { filesBelow, ROOT } from './fixtures/tree.ts'

/*
 * The shape of the code: what ARCHITECTURE.md draws and STYLE.md asks for.
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
    'service.ts',
    'settings.ts',
    'log.ts',
    'stack-trace.ts',
    'conform',
    'listing',
    'sign-in',
    'archive',
    'management',
  ],
  'service.ts': [
    'config.ts',
    'episodes.ts',
    'log.ts',
    'api',
    'dashboard',
    'http',
    'listing',
    'management',
    'ops',
    'sign-in',
    'usage',
  ],
  'open-store.ts': ['database-url.ts', 'archive', 'listing', 'management', 'postgres', 'sqlite'],
  'log.ts': ['config.ts', 'http', 'stack-trace.ts', 'terminal-lines.ts'],
  'episodes.ts': [],
  'stack-trace.ts': [],
  'terminal-lines.ts': [],
  'migrations.ts': ['listing'],
  'config.ts': ['database-url.ts', 'listing', 'public-url.ts', 'settings.ts'],
  'settings.ts': ['database-url.ts', 'listing', 'public-url.ts'],
  'public-url.ts': [],
  'database-url.ts': ['listing', 'public-url.ts'],
  'sign-in': ['listing', 'management'],
  dashboard: ['http', 'listing', 'management', 'usage'],
  usage: ['http', 'listing'],
  api: ['http', 'listing'],
  ops: ['http', 'listing'],
  claims: ['episodes.ts', 'listing'],
  archive: ['listing', 'management', 'migrations.ts', 'postgres', 'sqlite'],
  sqlite: ['claims', 'listing', 'management', 'migrations.ts'],
  postgres: ['claims', 'listing', 'management', 'migrations.ts'],
  management: ['listing'],
  conform: [],
  http: [],
  listing: [],
}

/** What each folder of the dashboard may import of the others, beside `context.ts`. */
const OF_DASHBOARD: Record<string, string[]> = {
  html: [],
  request: ['html'],
  servers: ['html', 'request'],
  account: ['html', 'request'],
  organizations: ['html', 'request', 'servers'],
  keys: ['html', 'request', 'account'],
  operator: ['html', 'account'],
  public: ['html'],
  docs: ['html', 'keys'],
  start: ['html'],
}

test('every folder of the dashboard imports only what it may', () => {
  for (const [path, targets] of imports) {
    const folder = /^src\/dashboard\/(\w+)\//.exec(path)?.[1]
    if (folder === undefined) continue
    const allowed = OF_DASHBOARD[folder]
    assert.ok(allowed !== undefined, `the table has no folder of ${path}`)
    for (const target of targets) {
      const [, room, other = ''] = target.split('/')
      if (room === 'dashboard' && other !== 'context.ts')
        assert.ok([folder, ...allowed].includes(other), `${path} must not import ${target}`)
    }
  }
})

test('every folder imports only what it may', () => {
  for (const [path, targets] of imports) {
    const room = roomOf(path)
    const allowed = MAY_IMPORT[room]
    assert.ok(allowed !== undefined, `${path} is in a folder that the table does not list`)
    for (const target of targets)
      assert.ok(
        roomOf(target) === room || allowed.includes(roomOf(target)),
        `${path} must not import ${target}`,
      )
  }
})

test('imports form no circle, type imports included', () => {
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

test('no file has an empty name such as utils or helpers', () => {
  const empty = /(^|\/)(utils?|helpers?|common|shared|misc|core|types|manager)(\.ts|\/)/
  const others = ['client/src', 'test'].flatMap((folder) => filesBelow(folder, '.ts'))
  for (const { path } of [...sources, ...others]) assert.doesNotMatch(path, empty)
})

test('each of these calls appears only in its own files', () => {
  assert.deepEqual(placesOf('createServer('), ['src/web/listen.ts', 'src/http/listen.ts'])
  for (const path of placesOf('argon2(')) assert.match(path, /^src\/sign-in\//)
  assert.deepEqual(placesOf('Bun.'), [])
  for (const path of placesOf('host_label'))
    assert.ok(
      /^src\/((archive|management|sqlite|postgres)\/|listing\/servers\/server\.ts)/.test(path),
      `${path} knows host_label`,
    )
  for (const path of placesOf('node:sqlite')) assert.match(path, /^src\/(archive|sqlite)\//)
  assert.deepEqual(placesOf('process.exit('), ['src/main.ts'])
  // Every other command has only the streams and the environment that `run` gets.
  for (const name of ['stdin', 'stdout', 'stderr', 'env'])
    for (const path of placesOf(`process.${name}`))
      assert.ok(roomOf(path) !== 'cli' || path.startsWith('src/cli/serve/'), path)
})

test("each sentence of the API's answers stands once, and once in the conformance kit", () => {
  const sentences = [
    'Invalid or missing API key.',
    'Not found.',
    'Rate limit exceeded',
    'Failed to load servers.',
    'Authentication service error.',
    'API server is not configured.',
  ]
  for (const sentence of sentences) {
    const places = sources.flatMap(({ path, text }) =>
      text.split(`'${sentence}'`).fill(roomOf(path)).slice(1),
    )
    assert.deepEqual(places, ['api', 'conform'], sentence)
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

test('each test file that a script names is there', () => {
  const manifest = { path: 'package.json', text: readFileSync(join(ROOT, 'package.json'), 'utf8') }
  for (const { path, text } of [...filesBelow('scripts', '.ts'), manifest])
    for (const [name] of text.matchAll(/(?<![\w/.])(?:\.\/)?test\/[\w./-]+\.ts\b/g))
      assert.ok(existsSync(join(ROOT, name)), `${path} names ${name}`)
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
