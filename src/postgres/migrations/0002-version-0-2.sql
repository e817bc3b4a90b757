-- oldest compatible program: 1

-- Archives are SQLite files of either engine, so both count the same migrations. PostgreSQL has no REPLACE, which most of
-- the SQLite migration of this number is about.

-- Owners add members by address, so open invitations end. Only 0.1.0 writes this table.
DELETE FROM invitations;

-- `disabled_at` is an operator's, and `banned_at` the site's. A user has access while both are null.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

ALTER TABLE users ADD COLUMN banned_at timestamptz;

CREATE OR REPLACE FUNCTION disable_access() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off AS $$
BEGIN
  IF TG_RELID <> 'users'::regclass THEN RAISE 'only users has this trigger'; END IF;
  UPDATE api_keys SET disabled_at = coalesce(NEW.disabled_at, NEW.banned_at) WHERE user_id = NEW.id;
  DELETE FROM sessions WHERE user_id = NEW.id;
  DELETE FROM sign_in_links WHERE user_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER users_disabled AFTER UPDATE OF disabled_at, banned_at ON users FOR EACH ROW
WHEN (coalesce(NEW.disabled_at, NEW.banned_at) IS DISTINCT FROM coalesce(OLD.disabled_at, OLD.banned_at))
EXECUTE FUNCTION disable_access();

CREATE OR REPLACE FUNCTION keep_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
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
    SELECT coalesce(disabled_at, banned_at) INTO NEW.disabled_at FROM users WHERE id = NEW.user_id FOR NO KEY UPDATE;
  ELSE
    SELECT coalesce(disabled_at, banned_at) INTO NEW.disabled_at FROM users WHERE id = NEW.user_id;
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

-- A site reads the audit log in the order of the commits, by the transaction that wrote an entry. Entries from before
-- have 0. A constant default rewrites no row.
ALTER TABLE audit_log ADD COLUMN xid xid8 NOT NULL DEFAULT '0';
ALTER TABLE audit_log ALTER COLUMN xid SET DEFAULT pg_current_xact_id();
CREATE INDEX audit_log_by_commit ON audit_log (xid, id);
