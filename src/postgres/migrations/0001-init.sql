-- oldest compatible program: 1

-- The accounts of the people who register servers. The columns are those of the sign-in library's user model.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL UNIQUE,
  name text NOT NULL,
  email_verified boolean NOT NULL DEFAULT false,
  image text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE organizations (
  id uuid PRIMARY KEY,
  slug text NOT NULL UNIQUE,
  name text NOT NULL
);

CREATE TABLE servers (
  id uuid PRIMARY KEY,
  created_by uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  organization_id uuid REFERENCES organizations (id) ON DELETE CASCADE,
  name text NOT NULL,
  slug text,
  host_label text NOT NULL,
  edition text NOT NULL DEFAULT 'java',
  status text NOT NULL DEFAULT 'published',
  version text,
  listing_kind text,
  updated_at timestamptz NOT NULL
);

-- The listing of one owner, in the order in which it is answered.
CREATE INDEX servers_listed ON servers (created_by, updated_at DESC, id DESC) WHERE organization_id IS NULL;
CREATE INDEX servers_by_slug ON servers (created_by, slug) WHERE slug IS NOT NULL;
CREATE INDEX servers_by_address ON servers (created_by, host_label);

-- A use rewrites the row: room on the page and no index on last_used_at keep the new version beside the old one.
CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 64),
  prefix text NOT NULL,
  key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  last_used_at timestamptz,
  -- Which of the user's five places an active key holds: the constraint below is what refuses a sixth.
  slot smallint NOT NULL CHECK (slot BETWEEN 1 AND 5)
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX api_keys_active ON api_keys (user_id, slot) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_of_user ON api_keys (user_id, created_at);

-- Where other programs read a key's last use.
CREATE VIEW api_key_uses AS
SELECT id AS api_key_id, prefix, last_used_at FROM api_keys;

-- Which state each owner's listing is in. The revision is random, so that one which was forgotten by a failover or
-- brought back by a restore never stands for another state; and it is renewed once per owner and transaction.
CREATE TABLE listing_revisions (
  user_id uuid PRIMARY KEY,
  revision uuid NOT NULL,
  renewed_in xid8 NOT NULL
) WITH (fillfactor = 70);

CREATE FUNCTION renew_listing(owner uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO listing_revisions AS known (user_id, revision, renewed_in)
  VALUES (owner, gen_random_uuid(), pg_current_xact_id())
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision, renewed_in = excluded.renewed_in
  WHERE known.renewed_in <> excluded.renewed_in
$$;

CREATE FUNCTION servers_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM renew_listing(OLD.created_by);
  END IF;
  IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.created_by <> OLD.created_by) THEN
    PERFORM renew_listing(NEW.created_by);
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION servers_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE listing_revisions SET revision = gen_random_uuid(), renewed_in = pg_current_xact_id();
  RETURN NULL;
END
$$;

CREATE TRIGGER servers_changed AFTER INSERT OR UPDATE OR DELETE ON servers
FOR EACH ROW EXECUTE FUNCTION servers_changed();
CREATE TRIGGER servers_truncated AFTER TRUNCATE ON servers
FOR EACH STATEMENT EXECUTE FUNCTION servers_truncated();
-- Also for rows that arrive by replication.
ALTER TABLE servers ENABLE ALWAYS TRIGGER servers_changed;
ALTER TABLE servers ENABLE ALWAYS TRIGGER servers_truncated;

-- One row, in a table that PostgreSQL empties when it recovers from a crash and when a standby is promoted: while the
-- row is missing or younger than a second, uses that were acknowledged may have been lost, and none is allowed.
CREATE UNLOGGED TABLE service_epoch (
  only_row boolean PRIMARY KEY CHECK (only_row),
  started_at timestamptz NOT NULL
);
INSERT INTO service_epoch VALUES (true, '-infinity');
