-- oldest compatible program: 1

-- The accounts of the people who register servers. The columns are those of the sign-in library's user model, which
-- writes its instants as ISO 8601 text.
CREATE TABLE users (
  id TEXT PRIMARY KEY NOT NULL,
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  email_verified INTEGER NOT NULL DEFAULT 0,
  image TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE organizations (
  id TEXT PRIMARY KEY NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL
) STRICT;

-- Instants are integer microseconds, UTC, from here on.
CREATE TABLE servers (
  id TEXT PRIMARY KEY NOT NULL,
  created_by TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  organization_id TEXT REFERENCES organizations (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  slug TEXT,
  host_label TEXT NOT NULL,
  edition TEXT NOT NULL DEFAULT 'java',
  status TEXT NOT NULL DEFAULT 'published',
  version TEXT,
  listing_kind TEXT,
  updated_at INTEGER NOT NULL
) STRICT;

-- The listing of one owner, in the order in which it is answered.
CREATE INDEX servers_listed ON servers (created_by, updated_at DESC, id DESC) WHERE organization_id IS NULL;
CREATE INDEX servers_by_slug ON servers (created_by, slug) WHERE slug IS NOT NULL;
CREATE INDEX servers_by_address ON servers (created_by, host_label);

-- `serial` is what the tables of uses refer to: a few bytes, never given to a second key. The serving process keeps an
-- array by it, hence the bound.
CREATE TABLE api_keys (
  serial INTEGER PRIMARY KEY AUTOINCREMENT CHECK (serial BETWEEN 1 AND 100000000),
  id TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  prefix TEXT NOT NULL,
  key_hash BLOB NOT NULL UNIQUE CHECK (length(key_hash) = 32),
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  -- Which of the user's five places an active key holds: the constraint below is what refuses a sixth.
  slot INTEGER NOT NULL CHECK (slot BETWEEN 1 AND 5)
) STRICT;

CREATE UNIQUE INDEX api_keys_active ON api_keys (user_id, slot) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_of_user ON api_keys (user_id, created_at);

-- Boots of the machine, so that a monotonic stamp is compared only with stamps of the same boot.
CREATE TABLE boots (
  number INTEGER PRIMARY KEY,
  boot_id TEXT NOT NULL UNIQUE
) STRICT;

-- The latest uses, one appended row each, and below them every key's last use before those. Only the serving process
-- writes here: it moves rows from the first to the second as they grow in number.
CREATE TABLE uses (
  number INTEGER PRIMARY KEY,
  api_key INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  monotonic INTEGER NOT NULL,
  boot INTEGER NOT NULL
) STRICT;

CREATE TABLE last_uses (
  api_key INTEGER PRIMARY KEY,
  used_at INTEGER NOT NULL,
  monotonic INTEGER NOT NULL,
  boot INTEGER NOT NULL
) STRICT;

CREATE TRIGGER api_keys_removed AFTER DELETE ON api_keys BEGIN
  DELETE FROM uses WHERE api_key = old.serial;
  DELETE FROM last_uses WHERE api_key = old.serial;
END;

-- Where other programs read a key's last use.
CREATE VIEW api_key_uses AS
SELECT
  api_keys.id AS api_key_id,
  api_keys.prefix AS prefix,
  coalesce(latest.used_at, last_uses.used_at) AS last_used_at
FROM api_keys
LEFT JOIN (SELECT api_key, used_at, max(number) FROM uses GROUP BY api_key) AS latest ON latest.api_key = api_keys.serial
LEFT JOIN last_uses ON last_uses.api_key = api_keys.serial;
