import { type Mutant, witness } from './mutant.ts'

/** Mistakes in how PostgreSQL decides about a key. */
export const CLAIMS_POSTGRES: Mutant[] = [
  {
    name: 'postgres-waits-for-locked-rows',
    file: 'src/postgres/claims/claim-statements.ts',
    from: `(SELECT is_over FROM epoch)
    FOR NO KEY UPDATE OF api_keys SKIP LOCKED`,
    to: `(SELECT is_over FROM epoch)
    FOR NO KEY UPDATE OF api_keys`,
    noticedBy: witness('test/postgres/claims/busy-rows.test.ts', 'one locked row of five'),
  },
  {
    name: 'postgres-locked-row-is-limited',
    file: 'src/postgres/claims/claim-statements.ts',
    from: "ELSE 'busy'\n    END",
    to: "ELSE 'limited'\n    END",
    noticedBy: witness('test/postgres/claims/busy-rows.test.ts', 'one locked row of five'),
  },
  {
    name: 'postgres-stamps-before-reading-the-lists',
    file: 'src/postgres/claims/claim-statements.ts',
    from: ' AND (SELECT count(*) FROM lists) >= 0',
    to: '',
    noticedBy: witness(
      'test/postgres/claims/busy-rows.test.ts',
      'is stamped after its list is read',
    ),
  },
  {
    name: 'postgres-moved-row-is-unknown',
    file: 'src/postgres/claims/claim-statements.ts',
    from: `LEFT JOIN granted USING (n) JOIN api_keys USING (key_hash)
  WHERE granted.n IS NULL`,
    to: `LEFT JOIN listed USING (n) JOIN api_keys USING (key_hash)
  WHERE listed.n IS NULL`,
    noticedBy: witness(
      'test/postgres/claims/busy-rows.test.ts',
      'between the snapshot and the lock',
    ),
  },
  {
    name: 'postgres-cached-listing-of-another-revision',
    file: 'src/postgres/claims/claim-statements.ts',
    from: 'revision = held_revision AND id = held_id',
    to: 'revision IS NOT NULL AND id = held_id',
    noticedBy: witness('test/postgres/claims/listings.test.ts', 'a valid cached revision spares'),
  },
  {
    name: 'postgres-known-key-is-not-confirmed',
    file: 'src/postgres/claims/claim-statements.ts',
    from: 'revision = held_revision AND id = held_id',
    to: 'revision = held_revision',
    noticedBy: witness('test/postgres/claims/listings.test.ts', 'inserted again with another id'),
  },
  {
    name: 'postgres-clamp-waits-for-locked-rows',
    file: 'src/postgres/claims/claim-statements.ts',
    from: `last_used_at > clock_timestamp()
    FOR NO KEY UPDATE SKIP LOCKED`,
    to: `last_used_at > clock_timestamp()
    FOR NO KEY UPDATE`,
    noticedBy: witness(
      'test/postgres/claims/busy-rows.test.ts',
      'a stamp from the future on a locked row',
    ),
  },
  {
    name: 'postgres-failed-clamp-fails-the-batch',
    file: 'src/postgres/claims/claims.ts',
    from: '  } catch {}\n',
    to: '  } finally {}\n',
    noticedBy: witness(
      'test/postgres/claims/busy-rows.test.ts',
      'an error after the claims of a batch',
    ),
  },
  {
    name: 'postgres-expired-busy-claim-is-retried',
    file: 'src/claims/expired-callers.ts',
    from: 'const kept = key.callers.findIndex(({ since }) => !isDue(since))',
    to: 'const kept = key.busy === null ? key.callers.findIndex(({ since }) => !isDue(since)) : 0',
    noticedBy: witness('test/claims/busy-keys.test.ts', 'a claim that stays busy for'),
  },
  {
    name: 'postgres-small-batch-waits-for-a-running-one',
    file: 'src/claims/gathering.ts',
    from: 'if (isDue || isClosed',
    to: 'if (isClosed',
    noticedBy: witness('test/claims/gathering.test.ts', 'after 4 ms beside one that still runs'),
  },
  {
    name: 'postgres-locked-keys-fill-the-batch',
    file: 'src/claims/backlog.ts',
    from: 'Math.max(aheadMin, batchMax - line.length)',
    to: 'batchMax',
    noticedBy: witness('test/claims/busy-keys.test.ts', 'half of each batch'),
  },
  {
    name: 'postgres-lock-logged-once-per-request',
    file: 'src/log/log.ts',
    from: 'if (known !== undefined) return nextIdOf(known)',
    to: 'if (known !== undefined) lasting.delete(fault as Error)',
    noticedBy: witness(
      'test/reliability/postgres/locked-row.test.ts',
      'a row locked by an operator',
    ),
  },
  {
    name: 'postgres-row-found-by-id',
    file: 'src/postgres/claims/claim-statements.ts',
    from: 'api_keys.ctid = locked_at',
    to: 'api_keys.id = listed.id',
    noticedBy: witness(
      'test/postgres/claims/busy-rows.test.ts',
      'between the snapshot and the lock',
    ),
  },
  {
    name: 'postgres-clamps-stamps-of-the-past',
    file: 'src/postgres/claims/claim-statements.ts',
    from: 'id = ANY ($1::uuid[]) AND last_used_at > clock_timestamp()',
    to: 'id = ANY ($1::uuid[])',
    noticedBy: witness('test/postgres/claims/busy-rows.test.ts', 'resets a stamp from the future'),
  },
  {
    name: 'postgres-decides-by-the-start-of-the-statement',
    file: 'src/postgres/claims/claim-statements.ts',
    from: 'const LONG_AGO = `clock_timestamp()',
    to: 'const LONG_AGO = `statement_timestamp()',
    noticedBy: {
      equivalent: 'an earlier instant only limits claims that a moment later would be granted',
    },
  },
  {
    name: 'postgres-abandoned-backend-keeps-running',
    file: 'src/postgres/database.ts',
    from: '    abandoned.add(backends.get(client)!)\n',
    to: '',
    noticedBy: witness(
      'test/reliability/postgres/abandoned.test.ts',
      'a missing synchronous standby',
    ),
  },
  {
    name: 'postgres-given-up-change-keeps-its-backend',
    file: 'src/postgres/database.ts',
    from: 'else giveUp(client)',
    to: 'else client.release(true)',
    noticedBy: witness(
      'test/reliability/postgres/abandoned.test.ts',
      'a change that waits for the standby',
    ),
  },
  {
    name: 'postgres-abandoned-backends-do-not-count',
    file: 'src/postgres/database.ts',
    from: 'pool.totalCount + abandoned.count()',
    to: 'pool.totalCount',
    noticedBy: witness(
      'test/reliability/postgres/abandoned.test.ts',
      'backends that cannot be ended',
    ),
  },
  {
    name: 'postgres-remaining-backends-are-forgotten',
    file: 'src/postgres/abandoned.ts',
    from: 'if (!remaining.has(nameOf(backend))) left',
    to: 'left',
    noticedBy: witness(
      'test/reliability/postgres/abandoned.test.ts',
      'backends that cannot be ended',
    ),
  },
  {
    name: 'postgres-ends-any-backend-with-the-pid',
    file: 'src/postgres/abandoned.ts',
    from: 'WHERE CASE WHEN extract(epoch FROM activity.backend_start)::text = "startedAt"',
    to: 'WHERE CASE WHEN true',
    noticedBy: witness(
      'test/reliability/postgres/abandoned.test.ts',
      'a later backend with the same',
    ),
  },
]
