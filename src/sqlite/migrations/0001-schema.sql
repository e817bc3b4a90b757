-- oldest compatible program: 1

-- Instants are integer microseconds since 1970, UTC. Ids are lower-case UUIDs, as PostgreSQL writes them, and no text of
-- an archive has a NUL, which PostgreSQL refuses. LIKE, GLOB and length() end at a NUL, so instr() looks for it.

-- An address is lower-case ASCII: the program lowers it, and a capital letter would be a second account of one mailbox.
-- `external_id` is the id that a site has for its user. `email_issuer` is the identity provider from which the address
-- came; null if the user, an operator or a site gave it.
CREATE TABLE users (
  id TEXT PRIMARY KEY NOT NULL CHECK (
    id LIKE '________-____-____-____-____________' AND length(replace(id, '-', '')) = 32 AND id NOT GLOB '*[^0-9a-f-]*'
    AND instr(id, char(0)) = 0
  ),
  email TEXT UNIQUE CHECK (email <> '' AND email NOT GLOB '*[^!-@[-~]*' AND instr(email, char(0)) = 0),
  external_id TEXT UNIQUE CHECK (length(external_id) BETWEEN 1 AND 255 AND instr(external_id, char(0)) = 0),
  created_at INTEGER NOT NULL,
  disabled_at INTEGER,
  email_issuer TEXT CHECK (email_issuer <> '' AND instr(email_issuer, char(0)) = 0)
) STRICT;

CREATE INDEX users_by_age ON users (created_at, id);

-- A user of an identity provider. The rows of a new user without an address come before the user's own, in one
-- transaction.
CREATE TABLE identities (
  issuer TEXT NOT NULL CHECK (issuer <> '' AND instr(issuer, char(0)) = 0),
  subject TEXT NOT NULL CHECK (subject <> '' AND instr(subject, char(0)) = 0),
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_of_user ON identities (user_id);

-- `hash` is in the format of argon2.
CREATE TABLE passwords (
  user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  hash TEXT NOT NULL CHECK (instr(hash, char(0)) = 0)
) STRICT, WITHOUT ROWID;

-- `token_hash` is SHA-256 in lowercase hex. `last_active_at` moves at most once an hour: each commit here costs the
-- serving process its cached keys and listings.
-- Until `operator_until`, the session has an operator's right that the identity provider gave it.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_active_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  operator_until INTEGER
) STRICT;

CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- The sign-in link of a user, which an operator made. It works once. `token_hash` is SHA-256 in lowercase hex.
CREATE TABLE sign_in_links (
  user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Attempts to sign in that were not yet found to be good. A subject is the hash of who tries what from where.
CREATE TABLE sign_in_attempts (
  id TEXT PRIMARY KEY NOT NULL,
  subject TEXT NOT NULL,
  attempted_at INTEGER NOT NULL
) STRICT;

CREATE INDEX sign_in_attempts_by_subject ON sign_in_attempts (subject, attempted_at);
CREATE INDEX sign_in_attempts_by_age ON sign_in_attempts (attempted_at);

-- The token of the setup link.
CREATE TABLE secrets (
  name TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Entries stay when their user is removed.
CREATE TABLE audit_log (
  id TEXT PRIMARY KEY NOT NULL CHECK (
    id LIKE '________-____-____-____-____________' AND length(replace(id, '-', '')) = 32 AND id NOT GLOB '*[^0-9a-f-]*'
    AND instr(id, char(0)) = 0
  ),
  occurred_at INTEGER NOT NULL,
  user_id TEXT CHECK (
    user_id LIKE '________-____-____-____-____________' AND length(replace(user_id, '-', '')) = 32
    AND user_id NOT GLOB '*[^0-9a-f-]*' AND instr(user_id, char(0)) = 0
  ),
  action TEXT NOT NULL CHECK (instr(action, char(0)) = 0),
  subject TEXT NOT NULL CHECK (instr(subject, char(0)) = 0),
  address TEXT NOT NULL CHECK (instr(address, char(0)) = 0)
) STRICT;

CREATE INDEX audit_log_of_user ON audit_log (user_id, occurred_at);
CREATE INDEX audit_log_by_age ON audit_log (occurred_at);
-- The events of an account, without refused sign-ins and what happened to its servers: there may be
-- any number of these.
CREATE INDEX audit_log_events_of_user ON audit_log (user_id, occurred_at)
  WHERE action <> 'sign-in refused' AND substr(action, 1, 6) <> 'server';

CREATE TABLE organizations (
  id TEXT PRIMARY KEY NOT NULL CHECK (
    id LIKE '________-____-____-____-____________' AND length(replace(id, '-', '')) = 32 AND id NOT GLOB '*[^0-9a-f-]*'
    AND instr(id, char(0)) = 0
  ),
  slug TEXT NOT NULL UNIQUE CHECK (instr(slug, char(0)) = 0),
  name TEXT NOT NULL CHECK (instr(name, char(0)) = 0)
) STRICT;

CREATE TABLE members (
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  joined_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_user ON members (user_id);

-- The user with this address is asked to join the organization and has not answered yet.
CREATE TABLE invitations (
  id TEXT NOT NULL UNIQUE CHECK (
    id LIKE '________-____-____-____-____________' AND length(replace(id, '-', '')) = 32 AND id NOT GLOB '*[^0-9a-f-]*'
    AND instr(id, char(0)) = 0
  ),
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  email TEXT NOT NULL CHECK (instr(email, char(0)) = 0),
  invited_by TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  invited_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, email)
) STRICT, WITHOUT ROWID;

CREATE INDEX invitations_by_email ON invitations (email, invited_at);
CREATE INDEX invitations_by_inviter ON invitations (invited_by);

CREATE TABLE servers (
  id TEXT PRIMARY KEY NOT NULL CHECK (
    id LIKE '________-____-____-____-____________' AND length(replace(id, '-', '')) = 32 AND id NOT GLOB '*[^0-9a-f-]*'
    AND instr(id, char(0)) = 0
  ),
  created_by TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  organization_id TEXT REFERENCES organizations (id) ON DELETE CASCADE,
  name TEXT NOT NULL CHECK (instr(name, char(0)) = 0),
  slug TEXT CHECK (instr(slug, char(0)) = 0),
  host_label TEXT NOT NULL CHECK (instr(host_label, char(0)) = 0),
  edition TEXT NOT NULL DEFAULT 'java' CHECK (instr(edition, char(0)) = 0),
  status TEXT NOT NULL DEFAULT 'published' CHECK (instr(status, char(0)) = 0),
  version TEXT CHECK (instr(version, char(0)) = 0),
  listing_kind TEXT CHECK (instr(listing_kind, char(0)) = 0),
  updated_at INTEGER NOT NULL
) STRICT;

-- The listing of one owner, in the order in which it is answered.
CREATE INDEX servers_listed ON servers (created_by, updated_at DESC, id DESC) WHERE organization_id IS NULL;
CREATE INDEX servers_of_organization ON servers (organization_id, updated_at DESC, id DESC)
WHERE organization_id IS NOT NULL;
CREATE INDEX servers_by_slug ON servers (created_by, slug) WHERE slug IS NOT NULL;
CREATE INDEX servers_by_address ON servers (created_by, host_label);

-- The latest changes of each user's servers, so that the user can undo them. `action` is that of the audit log. The others
-- are JSON: the servers as they were before and what they became, and how the listing changed.
CREATE TABLE server_changes (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  changed_at INTEGER NOT NULL,
  action TEXT NOT NULL,
  servers TEXT NOT NULL,
  listing TEXT NOT NULL,
  restored INTEGER
) STRICT;

CREATE INDEX server_changes_of_user ON server_changes (user_id, changed_at);

-- Imports that were checked and wait for the user. `entries` is JSON. `saved` is what the import did, once confirmed.
CREATE TABLE checked_imports (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  checked_at INTEGER NOT NULL,
  entries TEXT NOT NULL,
  saved TEXT
) STRICT;

CREATE INDEX checked_imports_of_user ON checked_imports (user_id, checked_at);

-- A key is its hash: SHA-256 of the whole key. `serial` is what the tables of claims refer to: a few bytes, never given
-- to a second key. The serving process keeps an array by it, hence the bound. `disabled_at` is the owner's: claims read no
-- other row.
CREATE TABLE api_keys (
  serial INTEGER PRIMARY KEY AUTOINCREMENT CHECK (serial BETWEEN 1 AND 100000000),
  id TEXT NOT NULL UNIQUE CHECK (
    id LIKE '________-____-____-____-____________' AND length(replace(id, '-', '')) = 32 AND id NOT GLOB '*[^0-9a-f-]*'
    AND instr(id, char(0)) = 0
  ),
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64 AND instr(name, char(0)) = 0),
  prefix TEXT NOT NULL CHECK (instr(prefix, char(0)) = 0),
  key_hash BLOB NOT NULL UNIQUE CHECK (length(key_hash) = 32),
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  disabled_at INTEGER
) STRICT;

CREATE INDEX api_keys_active ON api_keys (user_id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_of_user ON api_keys (user_id, created_at);

-- The hash of each key that was ever revoked here, whether or not the key has a row. `number` is the order in which the
-- journal beside the file gets them.
CREATE TABLE revoked_hashes (
  number INTEGER PRIMARY KEY CHECK (number > 0),
  key_hash BLOB NOT NULL UNIQUE CHECK (length(key_hash) = 32),
  revoked_at INTEGER NOT NULL
) STRICT;

-- Boots of the machine, so that a monotonic stamp is compared only with stamps of the same boot.
CREATE TABLE boots (
  number INTEGER PRIMARY KEY,
  boot_id TEXT NOT NULL UNIQUE
) STRICT;

-- The latest granted claims, one appended row each, and below them every key's last one before those. Only the serving
-- process writes here: it moves rows from the first to the second as they grow in number.
CREATE TABLE recent_claims (
  number INTEGER PRIMARY KEY,
  api_key INTEGER NOT NULL,
  claimed_at INTEGER NOT NULL,
  monotonic INTEGER NOT NULL,
  boot INTEGER NOT NULL
) STRICT;

CREATE TABLE last_claims (
  api_key INTEGER PRIMARY KEY,
  claimed_at INTEGER NOT NULL,
  monotonic INTEGER NOT NULL,
  boot INTEGER NOT NULL
) STRICT;

-- The last claims of keys that are not in use. In one table of 10,000,000 rows each key in use lies on a page of its
-- own, so that each change writes a page. The serving process moves rows here from last_claims, many at a time and none
-- of them younger than a second.
CREATE TABLE older_claims (
  api_key INTEGER PRIMARY KEY,
  claimed_at INTEGER NOT NULL
) STRICT;

-- The last claims of keys that were deleted within a minute. A key that is inserted again, as a reload does, gets its
-- number and its last use back, so that it gets no two 200s within a second.
CREATE TABLE removed_claims (
  key_hash BLOB PRIMARY KEY NOT NULL,
  serial INTEGER NOT NULL,
  claimed_at INTEGER NOT NULL,
  monotonic INTEGER NOT NULL,
  boot INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX removed_claims_by_age ON removed_claims (claimed_at);

-- Where other programs read a key's last use.
CREATE VIEW api_key_uses AS
SELECT
  api_keys.id AS api_key_id,
  api_keys.prefix AS prefix,
  coalesce(latest.claimed_at, last_claims.claimed_at, older_claims.claimed_at) AS last_used_at
FROM api_keys
LEFT JOIN (SELECT api_key, claimed_at, max(number) FROM recent_claims GROUP BY api_key) AS latest ON latest.api_key = api_keys.serial
LEFT JOIN last_claims ON last_claims.api_key = api_keys.serial
LEFT JOIN older_claims ON older_claims.api_key = api_keys.serial;

-- How a key's requests were answered, by ten minutes counted from 1970. After two days the row of an hour's first ten
-- minutes has the whole hour, which is kept for 31 days. Counts are written for many keys at once and for one slot: rows
-- of one slot that stand together share a page with their neighbours.
CREATE TABLE usage_counts (
  slot INTEGER NOT NULL,
  api_key_id TEXT NOT NULL CHECK (
    api_key_id LIKE '________-____-____-____-____________' AND length(replace(api_key_id, '-', '')) = 32
    AND api_key_id NOT GLOB '*[^0-9a-f-]*' AND instr(api_key_id, char(0)) = 0
  ),
  answered INTEGER NOT NULL,
  limited INTEGER NOT NULL,
  revoked INTEGER NOT NULL,
  PRIMARY KEY (slot, api_key_id)
) STRICT, WITHOUT ROWID;

-- When the last backup was made. No row before the first one.
CREATE TABLE last_backup (
  only_row INTEGER PRIMARY KEY NOT NULL CHECK (only_row = 1),
  made_at INTEGER NOT NULL
) STRICT;

-- The triggers below keep their rules for every program: SQLite enforces REFERENCES only for a connection that asks for
-- it, and its own command line does not.

CREATE TRIGGER users_removed AFTER DELETE ON users BEGIN
  DELETE FROM api_keys WHERE user_id = old.id;
  DELETE FROM sessions WHERE user_id = old.id;
  DELETE FROM sign_in_links WHERE user_id = old.id;
  DELETE FROM passwords WHERE user_id = old.id;
  DELETE FROM identities WHERE user_id = old.id;
  DELETE FROM members WHERE user_id = old.id;
  DELETE FROM invitations WHERE invited_by = old.id;
  DELETE FROM server_changes WHERE user_id = old.id;
  DELETE FROM checked_imports WHERE user_id = old.id;
  DELETE FROM servers WHERE created_by = old.id;
END;

CREATE TRIGGER organizations_removed AFTER DELETE ON organizations BEGIN
  DELETE FROM members WHERE organization_id = old.id;
  DELETE FROM invitations WHERE organization_id = old.id;
  DELETE FROM servers WHERE organization_id = old.id;
END;

CREATE TRIGGER api_keys_removed AFTER DELETE ON api_keys BEGIN
  DELETE FROM removed_claims WHERE claimed_at < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000 - 60000000;
  INSERT OR REPLACE INTO removed_claims SELECT old.key_hash, old.serial, claimed_at, monotonic, boot FROM (
    SELECT claimed_at, monotonic, boot, number FROM recent_claims WHERE api_key = old.serial
    UNION ALL SELECT claimed_at, monotonic, boot, 0 FROM last_claims WHERE api_key = old.serial
  ) WHERE claimed_at >= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000 - 60000000 ORDER BY number DESC LIMIT 1;
  DELETE FROM recent_claims WHERE api_key = old.serial;
  DELETE FROM last_claims WHERE api_key = old.serial;
  DELETE FROM older_claims WHERE api_key = old.serial;
END;

CREATE TRIGGER users_known AFTER INSERT ON users
WHEN new.email IS NULL AND new.external_id IS NULL AND NOT EXISTS (SELECT 1 FROM identities WHERE user_id = new.id)
BEGIN
  SELECT raise(ABORT, 'a user needs an email, an external_id, or an identity that is inserted before');
END;

CREATE TRIGGER users_changed BEFORE UPDATE OF id, email, external_id ON users
WHEN new.id <> old.id OR new.email IS NULL AND new.external_id IS NULL
  AND NOT EXISTS (SELECT 1 FROM identities WHERE user_id = new.id)
BEGIN
  SELECT raise(ABORT, 'a user keeps the id, and needs an email, an external_id or an identity');
END;

CREATE TRIGGER identities_removed AFTER DELETE ON identities
WHEN EXISTS (SELECT 1 FROM users WHERE id = old.user_id AND email IS NULL AND external_id IS NULL)
  AND NOT EXISTS (SELECT 1 FROM identities WHERE user_id = old.user_id)
BEGIN
  SELECT raise(ABORT, 'this identity is all that its user has: give the user an email or an external_id first');
END;

CREATE TRIGGER identities_changed BEFORE UPDATE OF user_id ON identities WHEN new.user_id <> old.user_id BEGIN
  SELECT raise(ABORT, 'an identity keeps its user: delete it and insert it again');
END;

-- A disabled user has no access, and enabling brings the same keys back.
CREATE TRIGGER users_disabled AFTER UPDATE OF disabled_at ON users WHEN new.disabled_at IS NOT old.disabled_at BEGIN
  UPDATE api_keys SET disabled_at = new.disabled_at WHERE user_id = new.id;
  DELETE FROM sessions WHERE user_id = new.id;
  DELETE FROM sign_in_links WHERE user_id = new.id;
END;

-- Without foreign keys, a user's rows may come before the user, or stay when REPLACE replaces the user.
CREATE TRIGGER users_added AFTER INSERT ON users BEGIN
  UPDATE api_keys SET disabled_at = new.disabled_at WHERE user_id = new.id AND disabled_at IS NOT new.disabled_at;
  DELETE FROM sessions WHERE user_id = new.id AND new.disabled_at IS NOT NULL;
  DELETE FROM sign_in_links WHERE user_id = new.id AND new.disabled_at IS NOT NULL;
END;

-- Without OF: a serial also changes by the name rowid.
CREATE TRIGGER api_keys_kept BEFORE UPDATE ON api_keys
WHEN new.id <> old.id OR new.key_hash <> old.key_hash OR new.serial <> old.serial
  AND new.serial IS NOT (SELECT serial FROM removed_claims WHERE key_hash = new.key_hash) BEGIN
  SELECT raise(ABORT, 'serial, id and key_hash of a key never change: revoke the key and insert a new one');
END;

-- A key is disabled as its owner is, and stays revoked once its hash is listed.
CREATE TRIGGER api_keys_changed AFTER UPDATE OF user_id, revoked_at, disabled_at ON api_keys BEGIN
  UPDATE api_keys SET
    revoked_at = coalesce(revoked_at, (SELECT revoked_at FROM revoked_hashes WHERE key_hash = new.key_hash)),
    disabled_at = (SELECT disabled_at FROM users WHERE id = new.user_id)
  WHERE serial = new.serial AND (
    disabled_at IS NOT (SELECT disabled_at FROM users WHERE id = new.user_id)
    OR revoked_at IS NULL AND EXISTS (SELECT 1 FROM revoked_hashes WHERE key_hash = new.key_hash)
  );
  INSERT INTO revoked_hashes (key_hash, revoked_at) SELECT new.key_hash, new.revoked_at WHERE new.revoked_at IS NOT NULL;
  SELECT raise(ABORT, 'a user has at most 5 active keys: revoke one first')
  WHERE (SELECT count(*) FROM api_keys WHERE user_id = new.user_id AND revoked_at IS NULL) > 5;
END;

-- Then what the trigger above does after a change.
CREATE TRIGGER api_keys_added AFTER INSERT ON api_keys BEGIN
  UPDATE api_keys SET serial = removed.serial FROM removed_claims AS removed
  WHERE removed.key_hash = new.key_hash AND api_keys.key_hash = new.key_hash;
  INSERT OR REPLACE INTO last_claims SELECT serial, claimed_at, monotonic, boot FROM removed_claims
  WHERE key_hash = new.key_hash;
  UPDATE api_keys SET revoked_at = new.revoked_at WHERE key_hash = new.key_hash;
END;

-- Uniting two lists applies them.
CREATE TRIGGER revoked_hashes_added AFTER INSERT ON revoked_hashes BEGIN
  UPDATE api_keys SET revoked_at = new.revoked_at WHERE key_hash = new.key_hash AND revoked_at IS NULL;
END;

-- A known hash is left out, so that REPLACE can't remove its row and the journal gets each row once, in order. Before an
-- INSERT, SQLite shows a number that it will pick itself as -1.
CREATE TRIGGER revoked_hashes_united BEFORE INSERT ON revoked_hashes BEGIN
  SELECT raise(IGNORE) WHERE EXISTS (SELECT 1 FROM revoked_hashes WHERE key_hash = new.key_hash);
  SELECT raise(ABORT, 'revoked_hashes numbers its rows itself: leave number out')
  WHERE new.number BETWEEN 1 AND (SELECT max(number) FROM revoked_hashes);
END;

CREATE TRIGGER revoked_hashes_kept BEFORE DELETE ON revoked_hashes BEGIN
  SELECT raise(ABORT, 'revoked_hashes only grows');
END;

CREATE TRIGGER revoked_hashes_final BEFORE UPDATE ON revoked_hashes BEGIN
  SELECT raise(ABORT, 'revoked_hashes only grows');
END;
