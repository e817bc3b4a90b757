import type { SourceFile } from '../../test/fixtures/tree.ts'

/** One small change of one piece of SQL in a source file. */
export interface SqlMutant {
  path: string
  /** Where it begins in the file, and how much text it replaces by what. */
  at: number
  from: string
  to: string
}

interface Rule {
  pattern: RegExp
  to: string | ((found: string) => string)
}

/** Changes of a query or a statement that alter its result, not only its cost. */
const RULES: Rule[] = [
  { pattern: /(?<=\s)(<=|>=)(?=\s)/g, to: (found) => found[0]! },
  { pattern: /(?<=\s)[<>](?=\s)/g, to: (found) => `${found}=` },
  { pattern: /(?<=\s)<>(?=\s)/g, to: '=' },
  { pattern: /\bAND\b(?! \d)/g, to: 'OR' },
  { pattern: /\bOR\b(?! (REPLACE|IGNORE|UPDATE|DELETE))/g, to: 'AND' },
  { pattern: /\bIS NOT NULL\b/g, to: 'IS NULL' },
  { pattern: /\bIS NULL\b/g, to: 'IS NOT NULL' },
  { pattern: /\bNOT (?=EXISTS\b|IN\b)/g, to: '' },
  { pattern: /\bDESC\b/g, to: 'ASC' },
  { pattern: /\b(min|max)(?=\()/g, to: (found) => (found === 'min' ? 'max' : 'min') },
  { pattern: /\bLEFT JOIN\b/g, to: 'JOIN' },
  { pattern: /(?<!IS )\bDISTINCT /g, to: '' },
  { pattern: /\bcoalesce\((?=[\w.]+, )[\w.]+, /g, to: 'coalesce(' },
  { pattern: / FOR (NO KEY )?UPDATE(?! OF\b)/g, to: '' },
  { pattern: / SKIP LOCKED\b/g, to: '' },
  { pattern: /\bIMMEDIATE\b/g, to: 'DEFERRED' },
]

/** Changes of a schema. NOT NULL is left out: only another defect could violate it. */
const SCHEMA_RULES: Rule[] = [
  { pattern: / UNIQUE\b(?! \()/g, to: '' },
  { pattern: /,\s*UNIQUE \([^)]*\)/g, to: '' },
  { pattern: / CHECK \((?:[^()]|\([^()]*\))*\)/g, to: '' },
  { pattern: / ON DELETE CASCADE/g, to: '' },
  { pattern: / AUTOINCREMENT\b/g, to: '' },
  { pattern: / UNLOGGED\b/g, to: '' },
  { pattern: /\bENABLE ALWAYS\b/g, to: 'ENABLE' },
  { pattern: /\bCREATE TRIGGER[^;]*EXECUTE FUNCTION[^;]*;/g, to: '' },
  { pattern: /\bCREATE TRIGGER(?:(?!EXECUTE)[\s\S])*?\bEND;/g, to: '' },
  // One statement of a trigger, and how long it remembers.
  { pattern: /(?<=^ {2,})(DELETE|INSERT|UPDATE|PERFORM|RAISE|SELECT raise)\b[^;]*;/gm, to: '' },
  { pattern: /\binterval '1 (second|minute)'/g, to: (found) => found.replace('1', '0.1') },
  { pattern: /\binterval '1 (second|minute)'/g, to: (found) => found.replace('1', '10') },
  { pattern: /\b60000000\b/g, to: '6000000' },
  { pattern: /\b60000000\b/g, to: '600000000' },
]

/**
 * All mutants of a file: of the whole `.sql`, or of the strings of a `.ts` that begin with a
 * statement.
 */
export function sqlMutants({ path, text }: SourceFile): SqlMutant[] {
  if (path.endsWith('.sql')) {
    const code = withoutIndexes(withoutComments(text))
    return mutate(path, code, 0, [...RULES, ...SCHEMA_RULES])
  }
  return sqlStrings(text).flatMap(({ at, sql }) => mutate(path, sql, at, RULES))
}

function mutate(path: string, sql: string, offset: number, rules: readonly Rule[]): SqlMutant[] {
  return rules.flatMap(({ pattern, to }) =>
    [...sql.matchAll(pattern)].map(({ 0: from, index }) => ({
      path,
      at: offset + index,
      from,
      to: typeof to === 'string' ? to : to(from),
    })),
  )
}

const STATEMENT = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|BEGIN|UNION|WHERE|ORDER BY)\b/

function sqlStrings(text: string): { at: number; sql: string }[] {
  // Templates first, because they can contain quotes.
  const strings = /\bsql`(?:[^`\\]|\\.)*`|`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'/g
  return [...text.matchAll(strings)].flatMap(({ 0: quoted, index }) => {
    const isTagged = quoted.startsWith('sql')
    const start = isTagged ? 'sql`'.length : 1
    const sql = withoutComments(quoted.slice(start, -1))
    // A tagged template is SQL, also where it is only a part of a statement.
    return isTagged || STATEMENT.test(sql) ? [{ at: index + start, sql }] : []
  })
}

/** Replaces comments by spaces, so that the rest keeps its position. */
function withoutComments(sql: string): string {
  return sql.replaceAll(/--[^\n]*/g, (comment) => ' '.repeat(comment.length))
}

/** A change to an index that is not unique changes only the cost of a query. */
function withoutIndexes(sql: string): string {
  return sql.replaceAll(/\bCREATE INDEX[^;]*;/g, (index) => ' '.repeat(index.length))
}

/** The line in which a mutant begins, trimmed. */
export function lineOf({ text }: SourceFile, { at }: SqlMutant): string {
  const end = text.indexOf('\n', at)
  return text.slice(text.lastIndexOf('\n', at) + 1, end === -1 ? undefined : end).trim()
}

/** The mutant's line and change, for a report. */
export function describeMutant({ text }: SourceFile, { path, at, from, to }: SqlMutant): string {
  const line = text.slice(0, at).split('\n').length
  return `${path}:${line} ${JSON.stringify(shorten(from))} -> ${JSON.stringify(shorten(to))}`
}

function shorten(text: string): string {
  const oneLine = text.replaceAll(/\s+/g, ' ').trim()
  return oneLine.length > 40 ? `${oneLine.slice(0, 40)}…` : oneLine
}
