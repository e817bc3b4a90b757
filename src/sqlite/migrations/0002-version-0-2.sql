-- oldest compatible program: 1

-- REPLACE deletes the rows that stand in its way, also the one with the same id. Those that refer to them stay or go as the
-- connection's settings say: a key could work without a user, or go without a trace in revoked_hashes. A trigger is not
-- told of REPLACE, but its own statements follow the policy of the statement that fired it. So it tries to insert the
-- first row of the ledger again: the row is ignored, or replaced until the abort puts it back.
CREATE TRIGGER users_replaced_by_insert BEFORE INSERT ON users
WHEN EXISTS (
  SELECT 1 FROM users WHERE id = new.id OR email = new.email OR external_id = new.external_id OR rowid = new.rowid
) BEGIN
  INSERT OR IGNORE INTO schema_migrations VALUES (1, 'replaced', 1, 0);
  SELECT raise(ABORT, 'this would delete a user and leave the keys: use ON CONFLICT, or change that user')
  FROM schema_migrations WHERE name = 'replaced';
END;

CREATE TRIGGER users_replaced_by_update BEFORE UPDATE ON users
WHEN EXISTS (
  SELECT 1 FROM users WHERE (email = new.email OR external_id = new.external_id OR rowid = new.rowid) AND id <> old.id
) BEGIN
  INSERT OR IGNORE INTO schema_migrations VALUES (1, 'replaced', 1, 0);
  SELECT raise(ABORT, 'this would delete a user and leave the keys: use ON CONFLICT, or change that user')
  FROM schema_migrations WHERE name = 'replaced';
END;

CREATE TRIGGER organizations_replaced_by_insert BEFORE INSERT ON organizations
WHEN EXISTS (
  SELECT 1 FROM organizations WHERE id = new.id OR slug = new.slug OR rowid = new.rowid
) BEGIN
  INSERT OR IGNORE INTO schema_migrations VALUES (1, 'replaced', 1, 0);
  SELECT raise(ABORT, 'this would delete an organization and leave the servers: use ON CONFLICT, or change that one')
  FROM schema_migrations WHERE name = 'replaced';
END;

CREATE TRIGGER organizations_replaced_by_update BEFORE UPDATE ON organizations
WHEN EXISTS (
  SELECT 1 FROM organizations WHERE (slug = new.slug OR rowid = new.rowid) AND id <> old.id
) BEGIN
  INSERT OR IGNORE INTO schema_migrations VALUES (1, 'replaced', 1, 0);
  SELECT raise(ABORT, 'this would delete an organization and leave the servers: use ON CONFLICT, or change that one')
  FROM schema_migrations WHERE name = 'replaced';
END;

-- The trigger api_keys_added gives a key that was removed within a minute its number back.
CREATE TRIGGER api_keys_replaced BEFORE INSERT ON api_keys
WHEN EXISTS (
  SELECT 1 FROM api_keys WHERE id = new.id OR key_hash = new.key_hash
    OR serial IN (new.serial, (SELECT serial FROM removed_claims WHERE key_hash = new.key_hash))
) BEGIN
  INSERT OR IGNORE INTO schema_migrations VALUES (1, 'replaced', 1, 0);
  SELECT raise(ABORT, 'this would delete a key without a trace: use ON CONFLICT, or revoke that key')
  FROM schema_migrations WHERE name = 'replaced';
END;

-- Owners add members by address, so open invitations end. Only 0.1.0 writes this table.
DELETE FROM invitations;

-- `disabled_at` is an operator's, and `banned_at` the site's. A user has access while both are null.
ALTER TABLE users ADD COLUMN banned_at INTEGER;

DROP TRIGGER IF EXISTS users_disabled;
CREATE TRIGGER users_disabled AFTER UPDATE OF disabled_at, banned_at ON users
WHEN coalesce(new.disabled_at, new.banned_at) IS NOT coalesce(old.disabled_at, old.banned_at) BEGIN
  UPDATE api_keys SET disabled_at = coalesce(new.disabled_at, new.banned_at) WHERE user_id = new.id;
  DELETE FROM sessions WHERE user_id = new.id;
  DELETE FROM sign_in_links WHERE user_id = new.id;
END;

DROP TRIGGER IF EXISTS users_added;
CREATE TRIGGER users_added AFTER INSERT ON users BEGIN
  UPDATE api_keys SET disabled_at = coalesce(new.disabled_at, new.banned_at)
  WHERE user_id = new.id AND disabled_at IS NOT coalesce(new.disabled_at, new.banned_at);
  DELETE FROM sessions WHERE user_id = new.id AND coalesce(new.disabled_at, new.banned_at) IS NOT NULL;
  DELETE FROM sign_in_links WHERE user_id = new.id AND coalesce(new.disabled_at, new.banned_at) IS NOT NULL;
END;

-- A user who has more than 5 active keys, from before the rule or from a file, can lose one or be disabled.
DROP TRIGGER IF EXISTS api_keys_changed;
CREATE TRIGGER api_keys_changed AFTER UPDATE OF user_id, revoked_at, disabled_at ON api_keys BEGIN
  UPDATE api_keys SET
    revoked_at = coalesce(revoked_at, (SELECT revoked_at FROM revoked_hashes WHERE key_hash = new.key_hash)),
    disabled_at = (SELECT coalesce(disabled_at, banned_at) FROM users WHERE id = new.user_id)
  WHERE serial = new.serial AND (
    disabled_at IS NOT (SELECT coalesce(disabled_at, banned_at) FROM users WHERE id = new.user_id)
    OR revoked_at IS NULL AND EXISTS (SELECT 1 FROM revoked_hashes WHERE key_hash = new.key_hash)
  );
  INSERT INTO revoked_hashes (key_hash, revoked_at) SELECT new.key_hash, new.revoked_at WHERE new.revoked_at IS NOT NULL;
  SELECT raise(ABORT, 'a user has at most 5 active keys: revoke one first')
  WHERE new.revoked_at IS NULL AND (new.user_id <> old.user_id OR new.disabled_at IS old.disabled_at)
    AND (SELECT count(*) FROM api_keys WHERE user_id = new.user_id AND revoked_at IS NULL) > 5;
END;
