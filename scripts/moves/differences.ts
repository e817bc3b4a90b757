import { dirname, join } from 'node:path/posix'
import type { Renames } from './renames.ts'
import { type Binding, type Part, readSource, type Source } from './source.ts'

/** What a move changed in one file beside the modules of its imports. */
export interface Findings {
  /** Lines such as `src/a.ts:7: …` that a move must not change. */
  differences: string[]
  /** Names of files that changed as text, which a person has to check. */
  paths: string[]
}

/** A file before and after a move. */
export interface Moved {
  path: string
  newPath: string
  before: string
  after: string
}

const LOOKS_LIKE_PATH = /\w\\?\/|\.(?:[cm]?[jt]s|md|sql|css|json|svg)\b/
const WORDS_MAX = 8

/**
 * Compares the two texts of a file: statements without imports, the names that imports bind with
 * the files that they come from, comments, and in other files than programs the words.
 */
export function findDifferences(file: Moved, renames: Renames): Findings {
  const before = readSource(file.path, file.before)
  const after = readSource(file.newPath, file.after)
  const findings: Findings = { differences: [], paths: [] }
  const note = (start: number, difference: string) =>
    findings.differences.push(`${file.newPath}:${lineOf(file.after, start)}: ${difference}`)
  const compare: Compare = { file, renames, note, paths: findings.paths }

  if (before === null || after === null) {
    compareWords(compare, file.before, file.after, 0)
    return findings
  }
  compareBindings(compare, before, after)
  compareStatements(compare, before, after)
  compareComments(compare, before, after)
  return findings
}

interface Compare {
  file: Moved
  renames: Renames
  note(start: number, difference: string): void
  paths: string[]
}

function compareBindings({ file, renames, note }: Compare, before: Source, after: Source): void {
  const old = before.bindings.map((one) => keyOf(one, moduleTarget(file, renames, one.module)))
  for (const binding of after.bindings) {
    const index = old.indexOf(keyOf(binding, resolved(file.newPath, binding.module)))
    if (index === -1) note(binding.start, `new: ${binding.name} from ${binding.module}`)
    else old.splice(index, 1)
  }
  for (const key of old) note(0, `gone: ${key}`)
}

function keyOf(binding: Binding, target: string): string {
  return `${binding.name} from ${target}`
}

function compareStatements(compare: Compare, before: Source, after: Source): void {
  const { note } = compare
  const count = Math.max(before.statements.length, after.statements.length)
  for (let index = 0; index < count; index += 1) {
    const old = before.statements[index] ?? []
    const now = after.statements[index] ?? []
    const place = now.findIndex((part, at) => isOther(old[at], part))
    const changed = place === -1 && old.length > now.length ? now.length : place
    if (changed !== -1) {
      const { start } = now[changed] ?? now.at(-1) ?? { start: compare.file.after.length }
      note(start, 'other code')
      // Without one statement, each following pair would be a difference.
      if (before.statements.length !== after.statements.length) return
      continue
    }
    for (const [at, part] of now.entries())
      if (part.kind !== 'code') compareNames(compare, old[at]!, part)
  }
}

function isOther(old: Part | undefined, now: Part): boolean {
  return old?.kind !== now.kind || (now.kind === 'code' && old.text !== now.text)
}

/** Compares two strings, or the modules that two `import()` name. */
function compareNames({ file, renames, note, paths }: Compare, old: Part, now: Part): void {
  const line = `${file.newPath}:${lineOf(file.after, now.start)}`
  const target = moduleTarget(file, renames, old.text)
  if (old.kind === 'module' || isRelativePart(old)) {
    const isKnown = old.kind === 'module' || renames.isKnown(resolved(file.path, old.text))
    if (isKnown && target === resolved(file.newPath, now.text)) {
      if (old.text !== now.text) paths.push(`${line}: ${old.text} → ${now.text}`)
      return
    }
    if (isKnown) {
      note(now.start, `'${now.text}' is not ${target}, which '${old.text}' was`)
      return
    }
  }
  if (old.text === now.text) return
  const shown = `${short(old.text)} → ${short(now.text)}`
  const isPath = [old, now].every(({ text }) => LOOKS_LIKE_PATH.test(text))
  if (isPath || renames.inString(old.text, dirname(file.path)) === now.text)
    paths.push(`${line}: ${shown}`)
  else note(now.start, `another string: ${shown}`)
}

function compareComments(compare: Compare, before: Source, after: Source): void {
  const [old, now] = [before.comments, after.comments]
  if (old.length !== now.length) {
    compare.note(now.at(-1)?.start ?? 0, `${old.length} comments before, ${now.length} after`)
    return
  }
  for (const [index, comment] of now.entries())
    compareWords(compare, unstarred(old[index]!.text), unstarred(comment.text), comment.start)
}

/** Formatters wrap comments and documents anew, so only their words count. */
function compareWords(compare: Compare, before: string, after: string, start: number): void {
  const { file, renames, note, paths } = compare
  if (before === after) return
  const [old, now] = [before, after].map((text) => [...text.matchAll(/\S+/g)])
  const at = (index: number) => start + (now![index]?.index ?? 0)
  for (const [index, [word]] of now!.entries()) {
    const was = old![index]?.[0] ?? ''
    if (word === was) continue
    if (old!.length === now!.length && [was, word].every((one) => LOOKS_LIKE_PATH.test(one))) {
      if (!isPathsOnly(renames, file, was, word))
        paths.push(`${file.newPath}:${lineOf(file.after, at(index))}: ${was} → ${word}`)
      continue
    }
    const from = old!.slice(index, index + WORDS_MAX).join(' ')
    const to = now!.slice(index, index + WORDS_MAX).join(' ')
    note(at(index), `other words: ${short(from)} → ${short(to)}`)
    return
  }
  if (old!.length > now!.length) note(at(now!.length - 1), 'the end is gone')
}

/** True if `now` names the same files as `old`, and is otherwise the same text. */
function isPathsOnly(renames: Renames, file: Moved, old: string, now: string): boolean {
  return renames.inText(old, dirname(file.path)) === now
}

function moduleTarget(file: Moved, renames: Renames, name: string): string {
  return isRelative(name) ? renames.of(resolved(file.path, name)) : name
}

function resolved(path: string, name: string): string {
  return isRelative(name) ? withoutSlash(join(dirname(path), name)) : name
}

function isRelative(name: string): boolean {
  return /^\.{1,2}(\/|$)/.test(name)
}

/**
 * True if a part is a path that starts at its file. A string of dots alone can be something else: a
 * part of a link, or the dot in `${name}.${ending}`.
 */
export function isRelativePart({ kind, text }: Part): boolean {
  return isRelative(text) && (kind !== 'string' || /\w/.test(text))
}

export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

function unstarred(comment: string): string {
  return comment.replaceAll(/^\s*\*/gm, '')
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

function lineOf(text: string, start: number): number {
  return text.slice(0, start).split('\n').length
}
