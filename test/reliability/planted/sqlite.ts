import { type Mutant, witness } from './mutant.ts'

const SCHEMA = 'src/sqlite/migrations/0001-schema.sql'

/** Mistakes in the SQLite engine. */
export const SQLITE: Mutant[] = [
  {
    name: 'stamps-before-reading-the-lists',
    file: 'src/sqlite/claims/claims.ts',
    from: 'const stamp = { claimed_at: clock.present(), monotonic: clock.monotonic() }',
    to: 'const stamp = { claimed_at: clock.present(), monotonic: arguments[0].now }',
    noticedBy: witness('test/sqlite/claims/stamps.test.ts', 'is stamped after its list is read'),
  },
  {
    name: 'key-rows-outlive-a-change',
    file: 'src/sqlite/claims/claims.ts',
    from: '    keyRows.clear()\n',
    to: '',
    noticedBy: witness(
      'test/sqlite/claims/keys/key-rows.test.ts',
      'sees what the service itself changes',
    ),
  },
  {
    name: 'key-rows-compared-by-their-start',
    file: 'src/claims/key-cache.ts',
    from: 'if (tags[place] === tag && isAt(place, keyHash)) return',
    to: 'if (tags[place] === tag) return',
    noticedBy: witness('test/claims/key-cache.test.ts', 'by all bytes of the hash'),
  },
  {
    name: 'claims-connection-writes-keys',
    file: 'src/sqlite/claims/file-revision.ts',
    from: '  database.setAuthorizer(authorize)\n',
    to: '',
    noticedBy: witness(
      'test/sqlite/claims/keys/key-rows.test.ts',
      'cannot change a key or a server',
    ),
  },
  {
    name: 'key-number-reused',
    file: SCHEMA,
    from: 'PRIMARY KEY AUTOINCREMENT',
    to: 'PRIMARY KEY',
    noticedBy: witness('test/sqlite/schema.test.ts', 'is never reused'),
  },
  {
    name: 'claims-outlive-their-key',
    file: SCHEMA,
    from: '  DELETE FROM recent_claims WHERE api_key = old.serial;\n',
    to: '',
    noticedBy: witness('test/sqlite/schema.test.ts', 'are deleted with it, compacted or not'),
  },
  {
    name: 'claims-of-the-last-second-move',
    file: 'src/sqlite/claims/older-claims.ts',
    from: 'newestStamp - CLAIM_INTERVAL_US',
    to: 'newestStamp + CLAIM_INTERVAL_US',
    noticedBy: witness('test/sqlite/claims/older-claims.test.ts', 'rows of the last second stay'),
  },
  {
    name: 'sixth-key-by-sql',
    file: SCHEMA,
    from: 'AND revoked_at IS NULL) > 5;',
    to: 'AND revoked_at IS NULL) > 6;',
    noticedBy: witness('test/contract/sqlite.test.ts', 'a sixth active key'),
  },
  {
    name: 'listed-hash-replaced',
    file: SCHEMA,
    from: '  SELECT raise(IGNORE) WHERE EXISTS (SELECT 1 FROM revoked_hashes WHERE key_hash = new.key_hash);\n',
    to: '',
    noticedBy: witness('test/sqlite/revoked-hashes.test.ts', 'a union of lists'),
  },
  {
    name: 'serial-changed-as-rowid',
    file: SCHEMA,
    from: 'BEFORE UPDATE ON api_keys\n',
    to: 'BEFORE UPDATE OF serial, id, key_hash ON api_keys\n',
    noticedBy: witness('test/sqlite/revoked-hashes.test.ts', 'nothing listed is lost'),
  },
  {
    name: 'replaced-user-keeps-enabled-keys',
    file: SCHEMA,
    from: 'WHERE user_id = new.id AND disabled_at IS NOT new.disabled_at;',
    to: 'WHERE false;',
    noticedBy: witness('test/sqlite/revoked-hashes.test.ts', 'a user that comes after the keys'),
  },
  {
    name: 'keys-outlive-their-user',
    file: SCHEMA,
    from: '  DELETE FROM api_keys WHERE user_id = old.id;\n',
    to: '',
    noticedBy: witness('test/sqlite/schema.test.ts', 'deleting a user by any program'),
  },
  {
    name: 'serving-lock-without-reading-the-pid',
    file: 'src/sqlite/file/serving-lock.ts',
    from: 'if (readHolder(lock) === process.pid) return seal ?? null',
    to: 'return seal ?? null',
    noticedBy: witness('test/sqlite/file/serving-lock.test.ts', 'loses the lock before it serves'),
  },
  {
    name: 'serving-lock-deferred',
    file: 'src/sqlite/file/serving-lock.ts',
    from: "lock.exec('BEGIN IMMEDIATE')\n      if (readHolder",
    to: "lock.exec('BEGIN')\n      if (readHolder",
    noticedBy: {
      equivalent: 'the pid is read next, and its SHARED lock keeps a second holder from committing',
    },
  },
  {
    name: 'migrates-before-locking',
    file: 'src/sqlite/file/served-file.ts',
    from: '    const lock = await takeServingLock',
    to: `    ;(await import('../migrate.ts')).migrate(database)
    const lock = await takeServingLock`,
    noticedBy: witness('test/sqlite/file/serving-lock.test.ts', 'migrates no file'),
  },
  {
    name: 'removed-user-keys-revoked-last',
    file: 'src/directory/records/removed-user.ts',
    from: '  await endAccess(database, userId, actor)\n',
    to: '',
    noticedBy: witness(
      'test/sqlite/removed-user.test.ts',
      'keys are revoked before the first batch',
    ),
  },
  {
    name: 'management-keeps-open-transaction',
    file: 'src/sqlite/management-connection.ts',
    from: '      rollBack(connection)\n',
    to: '',
    noticedBy: witness('test/sqlite/claims/after-a-failure.test.ts', 'a change after a failed one'),
  },
  {
    name: 'overdue-transaction-not-rejected',
    file: 'src/sqlite/management-connection.ts',
    from: '      if (isOpen) reject(new Overdue())\n',
    to: '      void reject\n',
    noticedBy: witness('test/sqlite/management-connection.test.ts', 'waits for its own queue'),
  },
  {
    name: 'statements-prepared-per-call',
    file: 'src/sqlite/management-statements.ts',
    from: '    statements.set(text, statement)\n',
    to: '',
    noticedBy: witness('test/sqlite/management-connection.test.ts', 'each is prepared once'),
  },
  {
    name: 'management-with-synchronous-normal',
    file: 'src/sqlite/database.ts',
    from: "synchronous: 'FULL'",
    to: "synchronous: 'NORMAL'",
    noticedBy: witness('test/sqlite/synchronous.test.ts', 'a command commits with FULL'),
  },
  {
    name: 'claims-with-synchronous-off',
    file: 'src/sqlite/serving-store.ts',
    from: "synchronous: 'NORMAL'",
    to: "synchronous: 'OFF' as 'NORMAL'",
    noticedBy: witness('test/sqlite/synchronous.test.ts', 'a service commits claims with NORMAL'),
  },
]
