-- oldest compatible program: 1

-- SET search_path FROM CURRENT below pins this schema by its name: "$user" would mean another schema to another role.
-- pg_temp comes last, or a session's temporary table would stand before ours.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- A claim rewrites its key's row, and PostgreSQL then checks each CHECK of the table again. It checks a domain only when a
-- value is set.
CREATE DOMAIN sha256 AS bytea CHECK (octet_length(VALUE) = 32);
CREATE DOMAIN key_name AS text CHECK (char_length(VALUE) BETWEEN 1 AND 64);
CREATE DOMAIN key_slot AS smallint CHECK (VALUE BETWEEN 1 AND 5);

-- An address is lower-case ASCII: the program lowers it, and a capital letter would be a second account of one mailbox.
-- `external_id` is the id that a site has for its user. `email_issuer` is the identity provider from which the address
-- came; null if the user, an operator or a site gave it.
CREATE TABLE users (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email text UNIQUE CHECK (email COLLATE "C" ~ '^[!-@[-~]+$'),
  external_id text UNIQUE CHECK (char_length(external_id) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL DEFAULT now(),
  disabled_at timestamptz,
  email_issuer text CHECK (email_issuer <> '')
);

CREATE INDEX users_by_age ON users (created_at, id);

-- A user of an identity provider. The rows of a new user without an address come before the user's own, in one
-- transaction.
CREATE TABLE identities (
  issuer text CHECK (issuer <> ''),
  subject text CHECK (subject <> ''),
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (issuer, subject)
);

CREATE INDEX identities_of_user ON identities (user_id);

-- `hash` is in the format of argon2.
CREATE TABLE passwords (
  user_id uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  hash text NOT NULL
);

-- `token_hash` is SHA-256 in lowercase hex. `last_active_at` moves at most once an hour.
-- Until `operator_until`, the session has an operator's right that the identity provider gave it.
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash text NOT NULL UNIQUE,
  address text NOT NULL,
  user_agent text NOT NULL,
  started_at timestamptz NOT NULL,
  last_active_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  operator_until timestamptz
);

CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- The sign-in link of a user, which an operator made. It works once. `token_hash` is SHA-256 in lowercase hex.
CREATE TABLE sign_in_links (
  user_id uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  token_hash text NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL
);

-- Attempts to sign in that were not yet found to be good. A subject is the hash of who tries what from where.
CREATE TABLE sign_in_attempts (
  id uuid PRIMARY KEY,
  subject text NOT NULL,
  attempted_at timestamptz NOT NULL
);

CREATE INDEX sign_in_attempts_by_subject ON sign_in_attempts (subject, attempted_at);
CREATE INDEX sign_in_attempts_by_age ON sign_in_attempts (attempted_at);

-- The token of the setup link.
CREATE TABLE secrets (
  name text PRIMARY KEY,
  value text NOT NULL
);

-- Entries stay when their user is removed.
CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  user_id uuid,
  action text NOT NULL,
  subject text NOT NULL,
  address text NOT NULL
);

CREATE INDEX audit_log_of_user ON audit_log (user_id, occurred_at);
CREATE INDEX audit_log_by_age ON audit_log (occurred_at);
-- The events of an account, without refused sign-ins and what happened to its servers: there may be
-- any number of these.
CREATE INDEX audit_log_events_of_user ON audit_log (user_id, occurred_at)
  WHERE action <> 'sign-in refused' AND substr(action, 1, 6) <> 'server';

CREATE TABLE organizations (
  id uuid PRIMARY KEY,
  slug text NOT NULL UNIQUE,
  name text NOT NULL
);

CREATE TABLE members (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'member')),
  joined_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, user_id)
);

CREATE INDEX members_by_user ON members (user_id);

-- The user with this address is asked to join the organization and has not answered yet.
CREATE TABLE invitations (
  id uuid NOT NULL UNIQUE,
  organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  email text NOT NULL,
  invited_by uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  invited_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, email)
);

CREATE INDEX invitations_by_email ON invitations (email, invited_at);
CREATE INDEX invitations_by_inviter ON invitations (invited_by);

CREATE TABLE servers (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  created_by uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  organization_id uuid REFERENCES organizations (id) ON DELETE CASCADE,
  name text NOT NULL,
  slug text,
  host_label text NOT NULL,
  edition text NOT NULL DEFAULT 'java',
  status text NOT NULL DEFAULT 'published',
  version text,
  listing_kind text,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- The listing of one owner, in the order in which it is answered.
CREATE INDEX servers_listed ON servers (created_by, updated_at DESC, id DESC) WHERE organization_id IS NULL;
CREATE INDEX servers_of_organization ON servers (organization_id, updated_at DESC, id DESC)
WHERE organization_id IS NOT NULL;
CREATE INDEX servers_by_slug ON servers (created_by, slug) WHERE slug IS NOT NULL;
CREATE INDEX servers_by_address ON servers (created_by, host_label);

-- The latest changes of each user's servers, so that the user can undo them. `action` is that of the audit log. The others
-- are JSON: the servers as they were before and what they became, and how the listing changed.
CREATE TABLE server_changes (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  changed_at timestamptz NOT NULL,
  action text NOT NULL,
  servers text NOT NULL,
  listing text NOT NULL,
  restored integer
);

CREATE INDEX server_changes_of_user ON server_changes (user_id, changed_at);

-- Imports that were checked and wait for the user. `entries` is JSON. `saved` is what the import did, once confirmed.
CREATE TABLE checked_imports (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  checked_at timestamptz NOT NULL,
  entries text NOT NULL,
  saved text
);

CREATE INDEX checked_imports_of_user ON checked_imports (user_id, checked_at);

-- A key is its hash: SHA-256 of the whole key. A claim rewrites the row: room on the page and no index on last_used_at
-- keep the new version beside the old one. `disabled_at` is the owner's: claims read no other row. `slot` is the place of an
-- active key among its owner's five, which a trigger picks.
CREATE TABLE api_keys (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name key_name NOT NULL,
  prefix text NOT NULL,
  key_hash sha256 NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz,
  disabled_at timestamptz,
  last_used_at timestamptz,
  slot key_slot,
  CONSTRAINT api_keys_active CHECK ((revoked_at IS NULL) = (slot IS NOT NULL))
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX api_keys_slots ON api_keys (user_id, slot) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_of_user ON api_keys (user_id, created_at);
-- Finds the keys of claims with less work than the unique index, which stays: it refuses a second key of one hash, and
-- tells the planner before the first ANALYZE that a hash has one row.
CREATE INDEX api_keys_by_hash ON api_keys USING hash (key_hash);

-- The hash of each key that was ever revoked here, whether or not the key has a row.
CREATE TABLE revoked_hashes (
  key_hash sha256 PRIMARY KEY,
  revoked_at timestamptz NOT NULL
);

-- The last claims of keys that were deleted within a second. A key that is inserted again, as a reload does, gets its
-- last use back, so that it gets no two 200s within a second. After a crash, service_epoch does as much.
CREATE UNLOGGED TABLE removed_claims (
  key_hash sha256 PRIMARY KEY,
  claimed_at timestamptz NOT NULL
);

CREATE INDEX removed_claims_by_age ON removed_claims (claimed_at);

-- Where other programs read a key's last use.
CREATE VIEW api_key_uses AS
SELECT id AS api_key_id, prefix, last_used_at FROM api_keys;

-- How a key's requests were answered, by ten minutes counted from 1970. After two days the row of an hour's first ten
-- minutes has the whole hour, which is kept for 31 days.
CREATE TABLE usage_counts (
  slot integer NOT NULL,
  api_key_id uuid NOT NULL,
  answered integer NOT NULL,
  limited integer NOT NULL,
  revoked integer NOT NULL,
  PRIMARY KEY (api_key_id, slot)
);

CREATE INDEX usage_counts_by_age ON usage_counts (slot);
CREATE INDEX usage_counts_within_hours ON usage_counts (slot) WHERE slot % 6 <> 0;

-- When the last backup was made. No row before the first one.
CREATE TABLE last_backup (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  made_at timestamptz NOT NULL
);

-- One row, in a table that PostgreSQL empties when it recovers from a crash and when a standby is promoted: while the
-- row is missing or younger than a second, claims that were acknowledged may have been lost, and none is allowed.
CREATE UNLOGGED TABLE service_epoch (
  only_row boolean PRIMARY KEY CHECK (only_row),
  started_at timestamptz NOT NULL
);
INSERT INTO service_epoch VALUES (true, '-infinity');

-- A function of a trigger runs as the owner of the tables, whatever rights the writer has, and refuses other tables than
-- its own. enable_seqscan: a session keeps the plan that it made while a table was empty, and a load would read the whole
-- table for each row.

-- Users

CREATE FUNCTION keep_user() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_RELID <> 'users'::regclass THEN RAISE 'only users has this trigger'; END IF;
  IF TG_OP = 'UPDATE' AND NEW.id <> OLD.id THEN
    RAISE 'a user keeps the id' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.email IS NULL AND NEW.external_id IS NULL AND NOT EXISTS (SELECT FROM identities WHERE user_id = NEW.id) THEN
    RAISE 'a user needs an email, an external_id, or an identity that is inserted before'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$$;
-- The conditions save a call for each row of a load.
CREATE TRIGGER users_added BEFORE INSERT ON users FOR EACH ROW
WHEN (NEW.email IS NULL AND NEW.external_id IS NULL) EXECUTE FUNCTION keep_user();
CREATE TRIGGER users_kept BEFORE UPDATE OF id, email, external_id ON users FOR EACH ROW
WHEN (NEW.id <> OLD.id OR NEW.email IS NULL AND NEW.external_id IS NULL) EXECUTE FUNCTION keep_user();

CREATE FUNCTION keep_identity() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_RELID <> 'identities'::regclass THEN RAISE 'only identities has this trigger'; END IF;
  IF TG_OP = 'UPDATE' AND NEW.user_id <> OLD.user_id THEN
    RAISE 'an identity keeps its user: delete it and insert it again' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  -- The lock first: another transaction may be removing the user's email or last other identity.
  PERFORM FROM users WHERE id = OLD.user_id FOR NO KEY UPDATE;
  IF EXISTS (SELECT FROM users WHERE id = OLD.user_id AND email IS NULL AND external_id IS NULL)
    AND NOT EXISTS (SELECT FROM identities WHERE user_id = OLD.user_id) THEN
    RAISE 'this identity is all that its user has: give the user an email or an external_id first'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER identities_kept AFTER UPDATE OF user_id OR DELETE ON identities
FOR EACH ROW EXECUTE FUNCTION keep_identity();

-- A disabled user has no access, and enabling brings the same keys back.
CREATE FUNCTION disable_access() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off AS $$
BEGIN
  IF TG_RELID <> 'users'::regclass THEN RAISE 'only users has this trigger'; END IF;
  UPDATE api_keys SET disabled_at = NEW.disabled_at WHERE user_id = NEW.id;
  DELETE FROM sessions WHERE user_id = NEW.id;
  DELETE FROM sign_in_links WHERE user_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER users_disabled AFTER UPDATE OF disabled_at ON users FOR EACH ROW
WHEN (NEW.disabled_at IS DISTINCT FROM OLD.disabled_at) EXECUTE FUNCTION disable_access();

-- Keys. A statement of a function sees what was committed before it, but only in READ COMMITTED: there a trigger that
-- waited for another transaction sees what that one did.

CREATE FUNCTION refuse_isolation(act text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE 'a transaction that % must be READ COMMITTED, not %', act, upper(current_setting('transaction_isolation'))
    USING ERRCODE = 'invalid_transaction_state';
END
$$;

CREATE FUNCTION keep_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off AS $$
BEGIN
  IF TG_RELID <> 'api_keys'::regclass THEN RAISE 'only api_keys has this trigger'; END IF;
  IF TG_OP = 'UPDATE' THEN
    IF NEW.id <> OLD.id OR NEW.key_hash <> OLD.key_hash THEN
      RAISE 'id and key_hash of a key never change: revoke the key and insert a new one'
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    NEW.slot := OLD.slot;
  ELSE
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      PERFORM refuse_isolation('inserts keys');
    END IF;
    -- Transactions that insert keys share this lock, and one that lists the hash of an active key holds it alone. Each of
    -- the two must see what the other did.
    PERFORM pg_advisory_xact_lock_shared('revoked_hashes'::regclass::oid::bigint);
    NEW.slot := NULL;
  END IF;
  IF NEW.revoked_at IS NULL THEN
    SELECT revoked_at INTO NEW.revoked_at FROM revoked_hashes WHERE key_hash = NEW.key_hash;
  END IF;
  -- A revocation waits for no other transaction's user: the key's row, which both change, keeps it in order.
  IF NEW.revoked_at IS NULL OR NEW.user_id IS DISTINCT FROM OLD.user_id THEN
    SELECT disabled_at INTO NEW.disabled_at FROM users WHERE id = NEW.user_id FOR NO KEY UPDATE;
  ELSE
    SELECT disabled_at INTO NEW.disabled_at FROM users WHERE id = NEW.user_id;
  END IF;
  IF NEW.revoked_at IS NOT NULL THEN
    NEW.slot := NULL;
    RETURN NEW;
  END IF;
  IF NEW.slot IS NULL OR NEW.user_id <> OLD.user_id THEN
    SELECT min(free) INTO NEW.slot FROM generate_series(1, 5) AS free
    WHERE NOT EXISTS (
      SELECT FROM api_keys WHERE user_id = NEW.user_id AND slot = free AND revoked_at IS NULL AND id <> NEW.id
    );
    IF NEW.slot IS NULL THEN
      RAISE 'user % has 5 active keys, which is the maximum: revoke one first', NEW.user_id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'api_keys_slots';
    END IF;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER api_keys_kept BEFORE INSERT OR UPDATE OF id, user_id, key_hash, revoked_at, disabled_at, slot ON api_keys
FOR EACH ROW EXECUTE FUNCTION keep_key();

CREATE FUNCTION list_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_RELID <> 'api_keys'::regclass THEN RAISE 'only api_keys has this trigger'; END IF;
  INSERT INTO revoked_hashes VALUES (NEW.key_hash, NEW.revoked_at) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER api_keys_listed AFTER INSERT OR UPDATE OF revoked_at ON api_keys FOR EACH ROW
WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION list_key();

-- A transaction that revoked a hash, or deleted its key, may have ended since the trigger of the row looked.
CREATE FUNCTION look_again() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off AS $$
BEGIN
  IF TG_RELID <> 'api_keys'::regclass THEN RAISE 'only api_keys has this trigger'; END IF;
  UPDATE api_keys SET revoked_at = listed.revoked_at FROM added JOIN revoked_hashes AS listed USING (key_hash)
  WHERE api_keys.id = added.id AND added.revoked_at IS NULL;
  UPDATE api_keys SET last_used_at = greatest(api_keys.last_used_at, claimed_at)
  FROM added JOIN removed_claims USING (key_hash) WHERE api_keys.id = added.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER api_keys_added AFTER INSERT ON api_keys REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION look_again();

CREATE FUNCTION keep_use() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_RELID <> 'api_keys'::regclass THEN RAISE 'only api_keys has this trigger'; END IF;
  DELETE FROM removed_claims WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM removed_claims WHERE claimed_at < clock_timestamp() - interval '1 minute' LIMIT 100
    FOR UPDATE SKIP LOCKED
  ));
  INSERT INTO removed_claims VALUES (OLD.key_hash, OLD.last_used_at)
  ON CONFLICT (key_hash) DO UPDATE SET claimed_at = excluded.claimed_at;
  RETURN NULL;
END
$$;
CREATE TRIGGER api_keys_removed AFTER DELETE ON api_keys FOR EACH ROW
WHEN (OLD.last_used_at > clock_timestamp() - interval '1 second') EXECUTE FUNCTION keep_use();

-- TRUNCATE has no rows. For a second from now, every process rejects all claims.
CREATE FUNCTION forget_removed_claims() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_RELID <> 'api_keys'::regclass THEN RAISE 'only api_keys has this trigger'; END IF;
  UPDATE service_epoch SET started_at = clock_timestamp();
  RETURN NULL;
END
$$;
CREATE TRIGGER api_keys_truncated AFTER TRUNCATE ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION forget_removed_claims();

-- Uniting two lists applies them. A known hash is left out, so that a reload of all tables in any order succeeds.
CREATE FUNCTION unite_hash() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off AS $$
BEGIN
  IF TG_RELID <> 'revoked_hashes'::regclass THEN RAISE 'only revoked_hashes has this trigger'; END IF;
  IF EXISTS (SELECT FROM revoked_hashes WHERE key_hash = NEW.key_hash) THEN
    RETURN NULL;
  END IF;
  IF NOT EXISTS (SELECT FROM api_keys WHERE key_hash = NEW.key_hash AND revoked_at IS NOT NULL) THEN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      PERFORM refuse_isolation('inserts into revoked_hashes');
    END IF;
    PERFORM pg_advisory_xact_lock('revoked_hashes'::regclass::oid::bigint);
    -- The transaction that this one waited for may have listed the hash.
    IF EXISTS (SELECT FROM revoked_hashes WHERE key_hash = NEW.key_hash) THEN
      RETURN NULL;
    END IF;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER revoked_hashes_united BEFORE INSERT ON revoked_hashes FOR EACH ROW EXECUTE FUNCTION unite_hash();

CREATE FUNCTION apply_hash() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off AS $$
BEGIN
  IF TG_RELID <> 'revoked_hashes'::regclass THEN RAISE 'only revoked_hashes has this trigger'; END IF;
  UPDATE api_keys SET revoked_at = NEW.revoked_at WHERE key_hash = NEW.key_hash AND revoked_at IS NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER revoked_hashes_applied AFTER INSERT ON revoked_hashes FOR EACH ROW EXECUTE FUNCTION apply_hash();

CREATE FUNCTION only_grows() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_RELID <> 'revoked_hashes'::regclass THEN RAISE 'only revoked_hashes has this trigger'; END IF;
  RAISE 'revoked_hashes only grows' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER revoked_hashes_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON revoked_hashes
FOR EACH STATEMENT EXECUTE FUNCTION only_grows();

-- Servers. Which state each owner's listing is in. A revision names the owner and the transaction: a second change in one
-- transaction finds the listing renewed. The transaction's number comes again after a restore or a promotion. Together
-- with the two times it does not.

CREATE TABLE listing_revisions (
  user_id uuid PRIMARY KEY,
  revision uuid NOT NULL
) WITH (fillfactor = 70);

CREATE FUNCTION transaction_stamp() RETURNS bytea STABLE LANGUAGE sql AS $$
  SELECT xid8send(pg_current_xact_id()) || timestamptz_send(now()) || timestamptz_send(pg_postmaster_start_time())
$$;

CREATE FUNCTION listing_revision(owner uuid, stamp bytea) RETURNS uuid IMMUTABLE LANGUAGE sql AS $$
  SELECT encode(substring(sha256(uuid_send(owner) || stamp) FOR 16), 'hex')::uuid
$$;

-- Renews the listings of these owners in the order of the owners, so that two statements never wait for each other. The
-- stamp is a subquery, which is evaluated once.
CREATE FUNCTION renew_listings(owners uuid[]) RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
  INSERT INTO listing_revisions AS known (user_id, revision)
  SELECT owner, listing_revision(owner, (SELECT transaction_stamp()))
  FROM (SELECT DISTINCT owner FROM unnest(owners) AS owner ORDER BY owner) AS changed
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision
  WHERE known.revision <> excluded.revision
$$;

-- After a statement. An import has a statement for each server of one owner and renews once, so look first: it costs less.
CREATE FUNCTION servers_changed_together() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off AS $$
DECLARE
  owners uuid[];
BEGIN
  IF TG_RELID <> 'servers'::regclass THEN RAISE 'only servers has this trigger'; END IF;
  IF TG_OP = 'TRUNCATE' THEN
    owners := ARRAY(SELECT user_id FROM listing_revisions);
  ELSIF TG_OP = 'INSERT' THEN
    owners := ARRAY(SELECT DISTINCT created_by FROM after_change);
  ELSIF TG_OP = 'DELETE' THEN
    owners := ARRAY(SELECT DISTINCT created_by FROM before_change);
  ELSE
    owners := ARRAY(SELECT created_by FROM before_change UNION SELECT created_by FROM after_change);
  END IF;
  IF cardinality(owners) > 1 OR (SELECT revision FROM listing_revisions WHERE user_id = owners[1])
    IS DISTINCT FROM listing_revision(owners[1], transaction_stamp()) THEN
    PERFORM renew_listings(owners);
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER servers_inserted AFTER INSERT ON servers REFERENCING NEW TABLE AS after_change
FOR EACH STATEMENT EXECUTE FUNCTION servers_changed_together();
CREATE TRIGGER servers_updated AFTER UPDATE ON servers
REFERENCING OLD TABLE AS before_change NEW TABLE AS after_change
FOR EACH STATEMENT EXECUTE FUNCTION servers_changed_together();
CREATE TRIGGER servers_deleted AFTER DELETE ON servers REFERENCING OLD TABLE AS before_change
FOR EACH STATEMENT EXECUTE FUNCTION servers_changed_together();
CREATE TRIGGER servers_truncated AFTER TRUNCATE ON servers
FOR EACH STATEMENT EXECUTE FUNCTION servers_changed_together();
ALTER TABLE servers ENABLE ALWAYS TRIGGER servers_truncated;

-- What arrives by logical replication has rows and no statements. It is applied in the role of a replica, and only in
-- that role the trigger of each row fires.
CREATE FUNCTION servers_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_RELID <> 'servers'::regclass THEN RAISE 'only servers has this trigger'; END IF;
  IF TG_OP = 'INSERT' THEN
    PERFORM renew_listings(ARRAY[NEW.created_by]);
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM renew_listings(ARRAY[OLD.created_by]);
  ELSE
    PERFORM renew_listings(ARRAY[OLD.created_by, NEW.created_by]);
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER servers_changed AFTER INSERT OR UPDATE OR DELETE ON servers
FOR EACH ROW EXECUTE FUNCTION servers_changed();
ALTER TABLE servers ENABLE REPLICA TRIGGER servers_changed;

-- Other roles. A role that may not execute a function can't make a trigger of it on a table of its own.
REVOKE EXECUTE ON FUNCTION keep_user, keep_identity, disable_access, refuse_isolation, keep_key, list_key, look_again,
  keep_use, forget_removed_claims, unite_hash, apply_hash, only_grows, transaction_stamp, listing_revision, renew_listings,
  servers_changed_together, servers_changed
FROM PUBLIC;

-- A site's role, to which an operator grants rights, changes only the accounts with an external_id and what they have.
-- It sees all addresses, because one that another account has stays out. Row-level security does not concern the owner of
-- the tables, which is the service's role.
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
CREATE POLICY users_seen ON users FOR SELECT USING (true);
CREATE POLICY users_of_a_site ON users USING (external_id IS NOT NULL);
ALTER TABLE identities ENABLE ROW LEVEL SECURITY;
CREATE POLICY identities_seen ON identities FOR SELECT USING (true);
CREATE POLICY identities_of_a_site ON identities
USING (EXISTS (SELECT FROM users WHERE id = user_id AND external_id IS NOT NULL));
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY api_keys_of_a_site ON api_keys
USING (EXISTS (SELECT FROM users WHERE users.id = user_id AND external_id IS NOT NULL));
ALTER TABLE servers ENABLE ROW LEVEL SECURITY;
CREATE POLICY servers_of_a_site ON servers
USING (EXISTS (SELECT FROM users WHERE users.id = created_by AND external_id IS NOT NULL));
