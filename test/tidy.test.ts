import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { assertExist, PARTS as MUTATED } from '../scripts/mutation/parts.ts'
import { staleEquivalents } from '../scripts/mutation/sql-equivalents.ts'
import { filesBelow, ROOT } from './fixtures/tree.ts'

/*
 * The shape of the code: what ARCHITECTURE.md draws and STYLE.md asks for.
 */

const sources = filesBelow('src', '.ts')
const kit = filesBelow('conform/src', '.ts')
const imports = new Map(sources.map(({ path, text }) => [path, importsOf(path, text)]))

/** The nouns, each with those whose rules and records its own may import. */
const NOUNS: Record<string, string[]> = {
  accounts: [],
  organizations: ['accounts'],
  servers: ['accounts', 'organizations'],
  keys: ['accounts', 'organizations'],
  directory: ['accounts', 'organizations', 'servers', 'keys'],
  acts: ['accounts', 'organizations', 'servers', 'keys', 'directory'],
}

/** What else rules and records may import, and what else the leaves may. */
const OF_PART: Record<Part, string[]> = {
  rules: ['model'],
  records: ['database', 'model'],
  pages: ['database', 'http', 'model', 'web'],
  commands: ['config', 'database', 'model', 'terminal'],
}

type Part = 'rules' | 'records' | 'pages' | 'commands'

/** Which parts of this noun and of the nouns below a part may import. */
const PARTS: Record<Part, Part[]> = {
  rules: ['rules'],
  records: ['rules', 'records'],
  pages: ['rules', 'records', 'pages'],
  commands: ['rules', 'records', 'commands'],
}

/** Who may import whom, by folder; files that stand in src/ itself by their name. */
const MAY_IMPORT: Record<string, string[]> = {
  'main.ts': ['cli', 'terminal'],
  cli: [
    'archive',
    'config',
    'database',
    'log',
    'management',
    'model',
    'open-store.ts',
    'service.ts',
    'terminal',
    ...Object.keys(NOUNS),
  ],
  'service.ts': [
    'accounts',
    'api',
    'config',
    'dashboard',
    'database',
    'http',
    'keys',
    'log',
    'management',
    'model',
    'ops',
    'web',
  ],
  management: ['api', 'database', 'http', 'log', 'model', 'web', ...Object.keys(NOUNS)],
  dashboard: ['model', 'web', ...Object.keys(NOUNS)],
  terminal: ['config', 'database', 'model', 'open-store.ts'],
  web: ['database', 'http', 'model'],
  'open-store.ts': ['archive', 'config', 'database', 'model', 'postgres', 'sqlite'],
  archive: ['database', 'model', 'postgres', 'sqlite'],
  sqlite: ['claims', 'database', 'log', 'model'],
  postgres: ['claims', 'database', 'model'],
  claims: ['log', 'model'],
  api: ['http', 'model'],
  ops: ['http', 'log', 'model'],
  log: ['config', 'http'],
  config: ['model'],
  database: ['model'],
  http: [],
  model: [],
}

test('npm run mutation:sql can still make each change that has an explanation', () => {
  assert.deepEqual(staleEquivalents([...sources, ...filesBelow('src', '.sql')]), [])
})

test('every folder imports only what it may', () => {
  for (const [path, targets] of imports)
    for (const target of targets)
      assert.ok(mayImport(path, target), `${path} must not import ${target}`)
})

function mayImport(path: string, target: string): boolean {
  const [from, to] = [roomOf(path), roomOf(target)]
  // The command loads the kit, a package of its own.
  if (to === 'src') return path === 'src/cli/commands/inspect/conform.ts'
  if (NOUNS[from] === undefined) return from === to || MAY_IMPORT[from]!.includes(to)
  const part = partOf(path)
  if (NOUNS[to] === undefined) return OF_PART[part].includes(to)
  const isLeaf = part === 'pages' || part === 'commands'
  return PARTS[part].includes(partOf(target)) && (isLeaf || from === to || NOUNS[from].includes(to))
}

/** What does not stand in one of the three folders is a rule, or what signs users in. */
function partOf(path: string): Part {
  const folder = path.split('/')[2]!
  if (folder === 'records' || folder === 'sign-in') return 'records'
  return folder === 'pages' || folder === 'commands' ? folder : 'rules'
}

test('the conformance kit imports nothing but itself', () => {
  for (const { path, text } of kit)
    for (const target of importsOf(path, text)) assert.match(target, /^conform\/src\//, path)
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
  assert.deepEqual(placesOf('createServer('), ['src/http/listen.ts', 'src/web/listen.ts'])
  for (const path of placesOf('argon2(')) assert.match(path, /^src\/accounts\/sign-in\//)
  assert.deepEqual(placesOf('Bun.'), [])
  for (const path of placesOf('host_label'))
    assert.ok(
      /^src\/((archive|sqlite|postgres|\w+\/records)\/|model\/server-row\.ts)/.test(path),
      `${path} knows host_label`,
    )
  for (const path of placesOf('node:sqlite')) assert.match(path, /^src\/(archive|sqlite)\//)
  assert.deepEqual(placesOf('process.exit('), ['src/main.ts'])
  // Every other command has only the streams and the environment that `run` gets.
  for (const name of ['stdin', 'stdout', 'stderr', 'env'])
    for (const path of placesOf(`process.${name}`))
      assert.doesNotMatch(path, /^src\/(cli\/(?!serve\/)|terminal\/|\w+\/commands\/)/)
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
    const places = [...sources, ...kit].flatMap(({ path, text }) =>
      text.split(`'${sentence}'`).fill(path.split('/').slice(0, 2).join('/')).slice(1),
    )
    assert.deepEqual(places, ['src/api', 'conform/src'], sentence)
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

test('each folder whose mutations are run is there, with its tests', () => {
  for (const { mutate, tests } of MUTATED) assertExist([...mutate, ...tests])
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
