import { type Mutant, witness } from './mutant.ts'

const SCHEMA = 'src/postgres/migrations/0001-schema.sql'
const HASHES = 'test/postgres/keys/revoked-hashes.test.ts'
const FUNCTIONS = 'test/postgres/trigger-functions.test.ts'
const LISTINGS = 'test/postgres/listing-revisions.test.ts'

/** Mistakes in PostgreSQL's schema, sessions and management. */
export const POSTGRES: Mutant[] = [
  {
    name: 'role-decides-synchronous-commit',
    file: 'src/postgres/pool.ts',
    from: "  synchronous_commit: 'on',\n",
    to: '',
    noticedBy: witness('test/postgres/database.test.ts', 'settings cannot weaken a session'),
  },
  {
    name: 'role-decides-read-only',
    file: 'src/postgres/pool.ts',
    from: "  default_transaction_read_only: 'off',\n",
    to: '',
    noticedBy: witness('test/postgres/database.test.ts', 'settings cannot weaken a session'),
  },
  {
    name: 'new-owner-keeps-revision',
    file: SCHEMA,
    from: 'SELECT created_by FROM before_change UNION SELECT created_by FROM after_change',
    to: 'SELECT created_by FROM before_change',
    noticedBy: witness(LISTINGS, 'a server that changes its owner'),
  },
  {
    name: 'replicated-rows-keep-revision',
    file: SCHEMA,
    from: 'ALTER TABLE servers ENABLE REPLICA TRIGGER servers_changed;\n',
    to: 'ALTER TABLE servers DISABLE TRIGGER servers_changed;\n',
    noticedBy: witness(LISTINGS, 'by a replica role are seen'),
  },
  {
    name: 'replicated-truncate-keeps-revision',
    file: SCHEMA,
    from: 'ALTER TABLE servers ENABLE ALWAYS TRIGGER servers_truncated;\n',
    to: '',
    noticedBy: witness(LISTINGS, 'by a replica role are seen'),
  },
  {
    name: 'functions-without-search-path',
    file: SCHEMA,
    from: 'CREATE FUNCTION servers_changed_together() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT\n',
    to: 'CREATE FUNCTION servers_changed_together() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER\n',
    noticedBy: witness(LISTINGS, 'whichever installation its search path'),
  },
  {
    name: 'trigger-function-runs-as-the-writer',
    file: SCHEMA,
    from: 'CREATE FUNCTION list_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER',
    to: 'CREATE FUNCTION list_key() RETURNS trigger LANGUAGE plpgsql',
    noticedBy: witness(FUNCTIONS, 'runs as its owner'),
  },
  {
    name: 'trigger-function-for-any-table',
    file: SCHEMA,
    from: "  IF TG_RELID <> 'revoked_hashes'::regclass THEN RAISE 'only revoked_hashes has this trigger'; END IF;\n  UPDATE api_keys",
    to: '  UPDATE api_keys',
    noticedBy: witness(FUNCTIONS, 'refuses every table but its own'),
  },
  {
    name: 'slot-picked-without-the-lock-of-the-user',
    file: SCHEMA,
    from: 'WHERE id = NEW.user_id FOR NO KEY UPDATE;',
    to: 'WHERE id = NEW.user_id;',
    noticedBy: witness(HASHES, 'give a user five active keys'),
  },
  {
    name: 'inserted-key-not-looked-up-again',
    file: SCHEMA,
    from: 'CREATE TRIGGER api_keys_added AFTER INSERT ON api_keys REFERENCING NEW TABLE AS added\nFOR EACH STATEMENT EXECUTE FUNCTION look_again();\n',
    to: '',
    noticedBy: witness(HASHES, 'revoked, deleted and inserted at once'),
  },
  {
    name: 'key-inserted-beside-a-union',
    file: SCHEMA,
    from: "    PERFORM pg_advisory_xact_lock_shared('revoked_hashes'::regclass::oid::bigint);\n",
    to: '',
    noticedBy: witness(HASHES, 'is listed while its key is inserted'),
  },
  {
    name: 'union-does-not-look-again',
    file: SCHEMA,
    from: '    IF EXISTS (SELECT FROM revoked_hashes WHERE key_hash = NEW.key_hash) THEN\n      RETURN NULL;',
    to: '    IF false THEN\n      RETURN NULL;',
    noticedBy: witness(HASHES, 'two unions of the same hashes'),
  },
  {
    name: 'identity-deleted-without-the-lock-of-the-user',
    file: SCHEMA,
    from: '  PERFORM FROM users WHERE id = OLD.user_id FOR NO KEY UPDATE;\n',
    to: '',
    noticedBy: witness(HASHES, 'email and last identity'),
  },
  {
    name: 'names-locked-in-the-order-of-the-caller',
    file: 'src/postgres/management-connection.ts',
    from: 'AS names (name) ORDER BY 1)',
    to: 'AS names (name))',
    noticedBy: witness('test/database/postgres.test.ts', 'that lock the same names'),
  },
  {
    name: 'any-text-sent-as-a-uuid',
    file: 'src/postgres/management-connection.ts',
    from: 'isUuid(value.value) ? value.value : null',
    to: 'value.value',
    noticedBy: witness('test/database/postgres.test.ts', 'only the id itself equals an id'),
  },
  {
    name: 'removed-user-not-locked',
    file: 'src/directory/records/removed-user.ts',
    from: "  await transaction.lock('organizations', ids, 'remove')\n",
    to: '',
    noticedBy: witness('test/postgres/former-members.test.ts', 'both owners of an organization'),
  },
  {
    name: 'late-owner-locked-after-the-organization',
    file: 'src/directory/records/removed-user.ts',
    from: "  if (stillLeft.some(({ created_by }) => !owners.includes(created_by))) return 'begin again'\n",
    to: '  void stillLeft\n',
    noticedBy: witness('test/postgres/lock-order.test.ts', 'while another leaves a server behind'),
  },
  {
    name: 'owners-locked-after-the-organization',
    file: 'src/servers/records/former-members.ts',
    from: '        const owners = await lockOwners(transaction, ofOwner)\n        if (!(await ownsLocked(transaction, userId, organizationId))) return null\n',
    to: '        if (!(await ownsLocked(transaction, userId, organizationId))) return null\n        const owners = await lockOwners(transaction, ofOwner)\n',
    noticedBy: witness('test/postgres/lock-order.test.ts', 'while their user joins again'),
  },
  {
    name: 'email-changed-beside-a-password-change',
    file: 'src/accounts/records/email-changes.ts',
    from: "        await transaction.lock('users', [userId])\n",
    to: '',
    noticedBy: witness(
      'test/postgres/accounts/password-changes.test.ts',
      'waits for a password change',
    ),
  },
  {
    name: 'email-changed-with-an-outdated-password',
    file: 'src/accounts/records/email-changes.ts',
    from: "        if ((await findPasswordHash(transaction, userId)) !== checked) return 'outdated'\n",
    to: '        void checked\n',
    noticedBy: witness('test/contract/postgres.test.ts', 'that its own user has now'),
  },
  {
    name: 'email-change-waits-for-another',
    file: 'src/accounts/records/email-changes.ts',
    from: 'other.id <> users.id',
    to: 'other.id <> other.id',
    noticedBy: witness(
      'test/postgres/accounts/password-changes.test.ts',
      'swap their email addresses',
    ),
  },
  {
    name: 'counts-in-any-order',
    file: 'src/postgres/usage-counts.ts',
    from: '         ORDER BY 2, 1\n',
    to: '',
    noticedBy: witness('test/postgres/at-once.test.ts', 'the same counts in opposite order'),
  },
  {
    name: 'unreadable-file-is-a-missing-right',
    file: 'src/postgres/refusals.ts',
    from: "  if (code === '42501' && !RIGHTS.test(routine)) return null\n",
    to: '',
    noticedBy: witness('test/postgres/hosts-of.test.ts', 'only a lasting refusal'),
  },
]
