import { type Mutant, witness } from './mutant.ts'

/** Mistakes in the rules of the dashboard, and in how commands work on a store. */
export const DASHBOARD: Mutant[] = [
  {
    name: 'failed-attempt-stays-counted',
    file: 'src/accounts/pages/sign-in/attempts.ts',
    from: '    await bestEffort(dashboard, () => signInAttempts(database).forgetAttempts([], taken), undefined)\n',
    to: '    void taken\n',
    noticedBy: witness(
      'test/accounts/pages/attempt-bounds.test.ts',
      'an attempt that ends in a fault does not count',
    ),
  },
  {
    name: 'wrong-passwords-counted-by-user',
    file: 'src/accounts/pages/sign-in/attempts.ts',
    from: "subjectOf('session', userId, String(startedAt))",
    to: "subjectOf('session', userId, String(startedAt - startedAt))",
    noticedBy: witness(
      'test/accounts/pages/attempts.test.ts',
      'wrong passwords in one session don’t block another',
    ),
  },
  {
    name: 'wrong-passwords-per-account-unlimited',
    file: 'src/accounts/pages/sign-in/attempts.ts',
    from: 'attemptsMax: WRONG_PASSWORDS_OF_ACCOUNT_MAX',
    to: 'attemptsMax: 10 * WRONG_PASSWORDS_OF_ACCOUNT_MAX',
    noticedBy: witness(
      'test/accounts/pages/attempt-bounds.test.ts',
      'one account accepts at most 100 wrong passwords',
    ),
  },
  {
    name: 'ended-session-issues-a-key',
    file: 'src/keys/pages/issue.ts',
    from: '  if ((await accounts.readSession(cookieOf(c))) === null) return askToSignIn(dashboard, c)\n',
    to: '  void [accounts, cookieOf]\n',
    noticedBy: witness(
      'test/dashboard/abuse.test.ts',
      'that ends while the service checks its password issues no key',
    ),
  },
  {
    name: 'ended-session-deletes-the-account',
    file: 'src/accounts/pages/delete-account.ts',
    from: '    if ((await accounts.readSession(cookieOf(c))) === null) return askToSignIn(dashboard, c)\n',
    to: '',
    noticedBy: witness(
      'test/dashboard/abuse.test.ts',
      'that ends while the service checks its password deletes no account',
    ),
  },
  {
    name: 'ended-session-changes-the-account',
    file: 'src/accounts/pages/account.ts',
    from: "  if (session === null) return { status: 422, message: 'Your session has ended. Sign in again.' }\n",
    to: '  void session\n',
    noticedBy: witness(
      'test/dashboard/abuse.test.ts',
      'checks its password changes no address or password',
    ),
  },
  {
    name: 'counts-lost-at-close',
    file: 'src/keys/usage/usage-counter.ts',
    from: '      clearInterval(timer)\n      await write()\n',
    to: '      clearInterval(timer)\n',
    noticedBy: witness('test/keys/pages/usage.test.ts', 'closing the counter writes its counts'),
  },
  {
    name: 'counted-keys-unlimited',
    file: 'src/keys/usage/counts.ts',
    from: 'COUNTED_MAX = 200_000',
    to: 'COUNTED_MAX = 400_000',
    noticedBy: witness('test/keys/pages/usage.test.ts', 'at most 200,000 keys between two writes'),
  },
  {
    name: 'count-in-the-slot-of-the-last-write',
    file: 'src/keys/usage/counts.ts',
    from: 'counted = new Map()',
    to: 'for (const count of counted.values()) Object.assign(count, { limited: 0 })',
    noticedBy: witness('test/keys/usage/counts.test.ts', 'in the slot of their first request'),
  },
  {
    name: 'counts-written-twice-at-once',
    file: 'src/keys/usage/usage-counter.ts',
    from: 'writing = writing.then(writeSlices)',
    to: 'writing = writeSlices()',
    noticedBy: witness(
      'test/keys/pages/usage.test.ts',
      'a second write starts after the first has ended',
    ),
  },
  {
    name: 'token-buckets-never-evicted',
    file: 'src/web/request/token-bucket.ts',
    from: 'if (length === 0) queues.delete(other)',
    to: 'if (length < 0) queues.delete(other)',
    noticedBy: witness(
      'test/reliability/dashboard/token-bucket.test.ts',
      'the idle ones are evicted',
    ),
  },
  {
    name: 'deleted-key-not-audited',
    file: 'src/keys/records/api-keys.ts',
    from: '        noteRevoked(note, actor, [revoked!])\n',
    to: '',
    noticedBy: witness(
      'test/accounts/pages/acts.test.ts',
      'each request that changes something writes its entry',
    ),
  },
  {
    name: 'failed-audit-entry-not-logged',
    file: 'src/web/request/best-effort.ts',
    from: '    onFault(fault)\n    return otherwise',
    to: '    void onFault\n    return otherwise',
    noticedBy: witness(
      'test/accounts/pages/acts.test.ts',
      'if the audit log is full, an act fails and changes nothing',
    ),
  },
  {
    name: 'store-left-open-by-a-command',
    file: 'src/terminal/context.ts',
    from: '  } finally {\n    await store.close()\n  }',
    to: '  } finally {\n    void store\n  }',
    noticedBy: witness(
      'test/terminal/context.test.ts',
      'the store is closed after each command, even a failed one',
    ),
  },
  {
    name: 'same-site-form-accepted',
    file: 'src/web/request/guard.ts',
    from: "return secFetchSite === 'same-origin'",
    to: "return secFetchSite.startsWith('same-')",
    noticedBy: witness('test/web/request/forms.test.ts', 'a form from another origin is refused'),
  },
  {
    name: 'body-limit-trusts-content-length',
    file: 'src/web/request/guard.ts',
    from: '    if (length > FORM_BYTES_MAX) return 413\n',
    to: '',
    noticedBy: witness(
      'test/web/request/forms.test.ts',
      'other methods, types and sizes are refused',
    ),
  },
]
