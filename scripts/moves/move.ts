import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { parseArgs } from 'node:util'
import { isRelativePart, withoutSlash } from './differences.ts'
import { movedFiles, readPlan } from './plan.ts'
import { type Renames, relativeTo, renamesOf } from './renames.ts'
import { type Part, readSource } from './source.ts'

/*
 * Moves files and folders, and changes every path to them: in imports, in strings, in documents and
 * in configuration. `node scripts/moves/move.ts FROM TO …`, or `--plan FILE` with these pairs in
 * lines, says what it would do, and what it cannot change. `--write` does it and formats the files.
 * Commit the result alone, then run check.ts.
 */

const { values, positionals } = parseArgs({
  options: { plan: { type: 'string' }, write: { type: 'boolean', default: false } },
  allowPositionals: true,
})

/** Data for tests, and locks. No path in them is one of the repository. */
const LEFT_ALONE = /(^|\/)package-lock\.json$|\.jsonl$|^bench\/results\/|^test\/conform\/peers\//

/** Scripts, and tests of the whole repository. They list folders by their names. */
const HAS_LISTS = /^scripts\/|^test\/[^/]+$/

const contents = new Map(
  git('ls-files', '-z')
    .split('\0')
    .filter((path) => path !== '')
    .map((path) => [path, readFileSync(path)]),
)
const moved =
  values.plan === undefined
    ? movedFiles(pairsOf(positionals), contents)
    : readPlan(values.plan, contents)
const renames = renamesOf(contents.keys(), moved)

const changed = new Map<string, string>()
for (const [path, content] of contents) {
  if (LEFT_ALONE.test(path) || content.includes(0)) continue
  const text = content.toString()
  const rewritten = rewrite(path, text, renames)
  if (rewritten !== text) changed.set(path, rewritten)
}

for (const [from, to] of moved) console.log(`${from} → ${to}`)
console.log(`${moved.size} files move, ${changed.size} files change`)
const gone = goneFolders()
const mentions = [...contents].flatMap(([path]) => mentionsIn(path))
if (mentions.length > 0)
  console.log(['Change these by hand where they mean a path:', ...mentions].join('\n  '))
if (values.write) write()
else console.log('Nothing is written without --write.')

function pairsOf(paths: readonly string[]): string[][] {
  const pairs: string[][] = []
  for (let index = 0; index < paths.length; index += 2) pairs.push(paths.slice(index, index + 2))
  if (pairs.length === 0) throw new Error('expected FROM and TO, or --plan FILE')
  return pairs
}

function rewrite(path: string, text: string, names: Renames): string {
  const source = readSource(path, text)
  if (source === null) return names.inText(text, dirname(path))
  const strings = source.statements.flat().filter(({ kind }) => kind !== 'code')
  const parts = [
    ...[...source.modules, ...strings].map((part) => ({ ...part, to: renamedPart(path, part) })),
    ...source.comments.map((comment) => {
      const old = text.slice(comment.start, comment.end)
      return { ...comment, text: old, to: names.inText(old, dirname(path)) }
    }),
  ]
  let result = text
  for (const { text: old, start, end, to } of parts.toSorted((a, b) => b.start - a.start))
    if (to !== old) result = result.slice(0, start) + to + result.slice(end)
  return result
}

/** A path that begins with a dot starts at the file itself, which may have moved. */
function renamedPart(path: string, part: Part): string {
  const { text } = part
  const target = withoutSlash(join(dirname(path), text))
  if (!isRelativePart(part) || !renames.isKnown(target))
    return renames.inString(text, dirname(path))
  const newPath = renames.of(path)
  if (withoutSlash(join(dirname(newPath), text)) === renames.of(target)) return text
  const name = relativeTo(dirname(newPath), renames.of(target), text)
  return text.endsWith('/') ? `${name}/` : name
}

/** Lines that still name a folder that is gone, for example in a regular expression or a list. */
function mentionsIn(path: string): string[] {
  const content = contents.get(path)!
  if (LEFT_ALONE.test(path) || content.includes(0) || gone.length === 0) return []
  const text = changed.get(path) ?? content.toString()
  const names = gone.join('|')
  const name = new RegExp(`(?<![\\w./-])(?:src/|test/)?(?:${names})/`)
  // Elsewhere, a word in quotes is rarely a folder.
  const word = HAS_LISTS.test(path) ? new RegExp(`['"|](?:${names})['"|]`) : name
  return text.split('\n').flatMap((line, index) => {
    const [plain, isImport] = [line.replaceAll('\\/', '/'), / from '/.test(line)]
    const isMention = !isImport && (name.test(plain) || word.test(plain))
    return isMention ? [`${renames.of(path)}:${index + 1}: ${line.trim()}`] : []
  })
}

/** The folders without a file after the move, without the first folder of their paths. */
function goneFolders(): string[] {
  const kept = [...contents.keys()].map((path) => moved.get(path) ?? path)
  return [...new Set([...moved.keys()].map(dirname))]
    .filter((folder) => !kept.some((path) => path.startsWith(`${folder}/`)))
    .map((folder) => folder.replace(/^(src|test)\//, ''))
}

function write(): void {
  for (const [path, text] of changed) writeFileSync(path, text)
  // A target may be the place of a file that moves, too.
  for (const from of moved.keys()) renameSync(from, `${from}.moving`)
  for (const [from, to] of moved) {
    mkdirSync(dirname(to), { recursive: true })
    renameSync(`${from}.moving`, to)
  }
  for (const from of moved.keys()) removeEmpty(dirname(from))
  const programs = [...changed.keys()].map((path) => renames.of(path))
  run('biome', 'format', '--write', '--files-ignore-unknown=true', ...programs)
  git('add', '-A', '--', ...new Set([...moved.keys(), ...moved.values(), ...programs]))
}

function removeEmpty(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length > 0) return
  rmdirSync(folder)
  removeEmpty(dirname(folder))
}

function git(...args: string[]): string {
  return run('git', ...args)
}

function run(program: string, ...args: string[]): string {
  const { stdout, stderr, status, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${program} ${args[0]} failed: ${stderr.trim()}`)
  return stdout
}
