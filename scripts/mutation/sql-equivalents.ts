import type { SourceFile } from '../../test/fixtures/tree.ts'
import { lineOf, type SqlMutant, sqlMutants } from './sql-mutants.ts'

/** A change of SQL that no caller can notice: the text of its line, and the reason. */
export interface SqlEquivalent {
  path: string
  line: string
  from: string
  why: string
}

export const SQL_EQUIVALENTS: readonly SqlEquivalent[] = [
  {
    path: 'src/sqlite/file/serving-lock.ts',
    line: `lock.exec('BEGIN IMMEDIATE')`,
    from: 'IMMEDIATE',
    why: 'the pid is read next, and its SHARED lock keeps a second holder from committing',
  },
  {
    path: 'src/postgres/claims/claim-statements.ts',
    line: 'WHERE known.started_at > excluded.started_at',
    from: '>',
    why: 'an equal epoch keeps its value',
  },
  {
    path: 'src/postgres/claims/claim-statements.ts',
    line: 'SELECT id FROM api_keys WHERE id = ANY ($1::uuid[]) AND last_used_at > clock_timestamp()',
    from: '>',
    why: 'the statement before found the stamp in the future; if the clock reaches it now, it keeps its value',
  },
  ...[
    'created_by TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,',
    'organization_id TEXT REFERENCES organizations (id) ON DELETE CASCADE,',
    'organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,',
    'invited_by TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,',
    'user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,',
    'user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,',
    'user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,',
  ].map((line) => ({
    path: 'src/sqlite/migrations/0001-schema.sql',
    line,
    from: ' ON DELETE CASCADE',
    why: 'users_removed or organizations_removed deletes the same rows before SQLite checks the reference',
  })),
  ...[
    'owners := ARRAY(SELECT DISTINCT created_by FROM after_change);',
    'owners := ARRAY(SELECT DISTINCT created_by FROM before_change);',
  ].map((line) => ({
    path: 'src/postgres/migrations/0001-schema.sql',
    line,
    from: 'DISTINCT ',
    why: 'renew_listings takes each owner once; here it saves work',
  })),
]

/** Whether a change of this file is explained. */
export function isEquivalent(file: SourceFile, mutant: SqlMutant): boolean {
  return SQL_EQUIVALENTS.some((equivalent) => describes(equivalent, file, mutant))
}

function describes(equivalent: SqlEquivalent, file: SourceFile, mutant: SqlMutant): boolean {
  const { path, line, from } = equivalent
  return path === file.path && from === mutant.from && line === lineOf(file, mutant)
}

/** The explanations of changes that can't be made any more. */
export function staleEquivalents(sources: readonly SourceFile[]): SqlEquivalent[] {
  return SQL_EQUIVALENTS.filter(
    (equivalent) =>
      !sources.some((file) =>
        sqlMutants(file).some((mutant) => describes(equivalent, file, mutant)),
      ),
  )
}
