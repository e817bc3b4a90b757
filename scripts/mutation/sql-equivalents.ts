/** A change of SQL that no caller can notice: the text of its line, and the reason. */
export interface SqlEquivalent {
  path: string
  line: string
  from: string
  why: string
}

export const SQL_EQUIVALENTS: readonly SqlEquivalent[] = [
  {
    path: 'src/sqlite/use-counts.ts',
    line: 'UNION ALL SELECT slot + 1 FROM slots WHERE slot < (SELECT max(slot) FROM use_counts)',
    from: '<',
    why: 'the slot after the last one has no rows',
  },
  {
    path: 'src/management/accounts/removed-user.ts',
    line: `(SELECT organization_id FROM members WHERE user_id = \${uuid(userId)} AND role = 'owner')`,
    from: 'AND',
    why: 'every organization has an owner; the next condition finds one that another user owns',
  },
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
  {
    path: 'src/postgres/copy.ts',
    line: 'AND attnum > 0 AND NOT attisdropped',
    from: '>',
    why: 'no attribute has the number 0',
  },
  ...[
    ['0001-init', 'created_by TEXT NOT NULL REFERENCES users'],
    ['0001-init', 'organization_id TEXT REFERENCES organizations'],
    ['0001-init', 'user_id TEXT NOT NULL REFERENCES users'],
    ['0002-dashboard', 'user_id TEXT NOT NULL REFERENCES users'],
    ['0002-dashboard', 'organization_id TEXT NOT NULL REFERENCES organizations'],
    ['0003-invitations', 'organization_id TEXT NOT NULL REFERENCES organizations'],
    ['0003-invitations', 'invited_by TEXT NOT NULL REFERENCES users'],
  ].map(([migration, column]) => ({
    path: `src/sqlite/migrations/${migration}.sql`,
    line: `${column} (id) ON DELETE CASCADE,`,
    from: ' ON DELETE CASCADE',
    why: 'a trigger of 0005-removed-with-user.sql deletes the same rows before SQLite checks the reference',
  })),
  ...[
    ['WHERE known.renewed_in <> excluded.renewed_in', '<>'],
    ["IF TG_OP <> 'INSERT' THEN", '<>'],
    ["IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.created_by <> OLD.created_by) THEN", '<>'],
    ["IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.created_by <> OLD.created_by) THEN", 'AND'],
    ["IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.created_by <> OLD.created_by) THEN", 'OR'],
    ['ALTER TABLE servers ENABLE ALWAYS TRIGGER servers_changed;', 'ENABLE ALWAYS'],
    ['ALTER TABLE servers ENABLE ALWAYS TRIGGER servers_truncated;', 'ENABLE ALWAYS'],
  ].map(([line, from]) => ({
    path: 'src/postgres/migrations/0001-init.sql',
    line: line!,
    from: from!,
    why: 'the migration 0006-listing-revisions.sql replaces these functions and triggers',
  })),
  ...[
    'SELECT owner FROM (SELECT DISTINCT created_by FROM after_change) AS changed (owner)',
    'owners := ARRAY(SELECT DISTINCT created_by FROM before_change);',
  ].map((line) => ({
    path: 'src/postgres/migrations/0006-listing-revisions.sql',
    line,
    from: 'DISTINCT ',
    why: 'renew_listings takes each owner once; here it saves work',
  })),
]
