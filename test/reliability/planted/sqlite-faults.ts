import { type Mutant, witness } from './mutant.ts'

/** Mistakes in how the SQLite engine reacts to changes of its file, its clock or its disk. */
export const SQLITE_FAULTS: Mutant[] = [
  {
    name: 'restored-row-numbers-not-read',
    file: 'src/sqlite/claims/recent-claims.ts',
    from: '    newest = Math.max(newest, readNewest())\n',
    to: '',
    noticedBy: witness(
      'test/sqlite/file/restore.test.ts',
      'no request fails after a backup is restored',
    ),
  },
  {
    name: 'claims-granted-in-the-second-of-a-lost-claim',
    file: 'src/sqlite/claims/recent-claims.ts',
    from: '    if (!hasRow(lastClaim)) heldUntil = lastClaim.monotonic + CLAIM_INTERVAL_US\n',
    to: '',
    noticedBy: witness(
      'test/sqlite/file/restore.test.ts',
      'reuses the number of a key from before',
    ),
  },
  {
    name: 'stamp-counts-for-another-key',
    file: 'src/sqlite/claims/stamps.ts',
    from: 'last !== 0 && values[at + 2] === tagOf(keyHash) ? last : 0',
    to: 'last',
    noticedBy: witness(
      'test/sqlite/file/restore.test.ts',
      'reuses the number of a key from before',
    ),
  },
  {
    name: 'restored-rows-compacted-unread',
    file: 'src/sqlite/claims/compaction.ts',
    from: 'if (findSchema.get()?.schema_version !== schema) return false\n',
    to: '',
    noticedBy: witness('test/sqlite/file/restore.test.ts', 'compaction after a restore keeps'),
  },
  {
    name: 'stamp-of-the-future-kept',
    file: 'src/sqlite/claims/stamps.ts',
    from: 'if (stamp.monotonic <= now) continue',
    to: 'if (stamp.monotonic <= Infinity) continue',
    noticedBy: witness('test/sqlite/claims/recent-claims.test.ts', 'a stamp from the future'),
  },
  {
    name: 'second-boot-does-not-wait',
    file: 'src/sqlite/file/served-file.ts',
    from: '  return [bootId, file,',
    to: '  return [file,',
    noticedBy: witness('test/sqlite/claims/processes.test.ts', 'after a reboot the service waits'),
  },
  {
    name: 'start-trusts-any-lock-file',
    file: 'src/sqlite/file/served-file.ts',
    from: 'lock.seal !== sealOf(real, file, bootId) &&',
    to: "(lock.seal ?? '') === '' &&",
    noticedBy: witness('test/sqlite/file/served-file.test.ts', 'a start after'),
  },
  {
    name: 'killed-service-leaves-its-seal',
    file: 'src/sqlite/file/serving-lock.ts',
    from: "    lock.exec(`INSERT OR REPLACE INTO sealed VALUES (1, '')`)\n",
    to: '',
    noticedBy: witness('test/sqlite/file/served-file.test.ts', 'a start after'),
  },
  {
    name: 'restored-file-is-sealed',
    file: 'src/sqlite/file/served-file.ts',
    from: "isRestored ? '' : sealAtEnd()",
    to: 'sealAtEnd()',
    noticedBy: witness('test/sqlite/file/served-file.test.ts', 'a start after'),
  },
  {
    name: 'late-look-at-the-files',
    file: 'src/sqlite/file/file-watch.ts',
    from: 'monotonic - lookedAt > LOOK_MS * 1_000',
    to: 'monotonic - lookedAt > LOOK_MS * 5_000',
    noticedBy: witness('test/sqlite/file/held-files.test.ts', 'no claim is decided later than'),
  },
  {
    name: 'lost-files-are-served',
    file: 'src/sqlite/claims/claims.ts',
    from: '    if (lost !== null) throw lost\n',
    to: '',
    noticedBy: witness('test/sqlite/file/held-files.test.ts', 'requests fail with one log line'),
  },
  {
    name: 'change-in-a-lost-file-confirmed',
    file: 'src/sqlite/management-connection.ts',
    from: '    watch?.confirm()\n',
    to: '',
    noticedBy: witness('test/sqlite/file/held-files.test.ts', 'does not confirm a change'),
  },
  {
    name: 'large-log-reported-at-each-look',
    file: 'src/log/episodes.ts',
    from: 'if (isNew) report',
    to: 'report',
    noticedBy: witness('test/sqlite/file/log-size.test.ts', 'a WAL above 64 MB is logged once'),
  },
  {
    name: 'mount-point-opened',
    file: 'src/sqlite/database.ts',
    from: '  assertNotMounted(path)\n',
    to: '',
    noticedBy: witness(
      'test/reliability/system/mounted-file.system.ts',
      'that is itself a mount point',
    ),
  },
]
