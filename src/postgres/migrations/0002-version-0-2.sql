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
-- The acts of a site. Each function takes one JSON array of flat rows and runs as the owner of the tables, so that the
-- site's role needs no right on any. Bodies have no backslash, because the caller decides standard_conforming_strings.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- The addresses of OPERATORS, which no user of a site gets. Each start of `serve` writes them.
CREATE TABLE operator_addresses (email text PRIMARY KEY);

-- Has no rows. Transactions that insert keys share its lock, and one that lists the hash of an active key holds it alone.
-- Each of the two must see what the other did. Any role can take an advisory lock, but only the owner this one.
CREATE TABLE key_gate ();

-- A name stands for one of these rows, for locks of names without a row. 0.1.0 takes advisory locks for them. The last
-- row is that of a document, which holds it for seconds.
CREATE TABLE name_locks (number smallint PRIMARY KEY);
INSERT INTO name_locks SELECT generate_series(0, 1024);

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
    LOCK TABLE key_gate IN SHARE MODE;
    NEW.slot := NULL;
  END IF;
  IF NEW.revoked_at IS NULL THEN
    SELECT revoked_at INTO NEW.revoked_at FROM revoked_hashes WHERE key_hash = NEW.key_hash;
  END IF;
  -- A revocation waits for no other transaction's user: the key's row, which both change, keeps it in order.
  IF NEW.revoked_at IS NULL AND (NEW.slot IS NULL OR NEW.user_id <> OLD.user_id) THEN
    -- A new version of the user's row: a ban whose snapshot lacks this key then fails with 40001.
    UPDATE users SET created_at = created_at WHERE id = NEW.user_id
    RETURNING coalesce(disabled_at, banned_at) INTO NEW.disabled_at;
  ELSIF NEW.revoked_at IS NULL OR NEW.user_id IS DISTINCT FROM OLD.user_id THEN
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
CREATE OR REPLACE FUNCTION unite_hash() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
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
    LOCK TABLE key_gate IN EXCLUSIVE MODE;
    -- The transaction that this one waited for may have listed the hash.
    IF EXISTS (SELECT FROM revoked_hashes WHERE key_hash = NEW.key_hash) THEN
      RETURN NULL;
    END IF;
  END IF;
  RETURN NEW;
END
$$;

-- What the acts have in common. A document is read by a function that promises the planner one row. So its rows come
-- first in each join, and find theirs in an index, whatever the planner believes of the tables. The rest keeps it from
-- reading an index as a whole, which costs nothing in a table that it believes empty:
-- - EXISTS in an expression would be a hash of the whole table, so these are SELECT … LIMIT 1.
-- - `= ANY (ARRAY[…])` is no order to merge by, and uuid_send(id) none that an index has.
-- - coalesce() fits no condition of an index, and a column that no index has keeps it from reading indexes alone.

CREATE FUNCTION rows_in(document jsonb) RETURNS TABLE (n bigint, r jsonb) STABLE ROWS 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT place - 1, element FROM jsonb_array_elements(document) WITH ORDINALITY AS e (element, place);
END
$$;

-- The cast alone rounds digits behind the microsecond.
CREATE FUNCTION instant_in(given text) RETURNS timestamptz STABLE LANGUAGE sql AS $$
  SELECT regexp_replace(given, '([.][0-9]{6})[0-9]+', '\1')::timestamptz
$$;

-- ISO 8601 with a zone, as parseInstant() reads it. The cast alone takes 'tomorrow', too, and its error names no row.
CREATE FUNCTION is_instant(given text) RETURNS boolean STABLE LANGUAGE sql AS $$
  SELECT CASE
    WHEN given !~* ('^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3])(:[0-5][0-9]){2}'
      || '([.][0-9]{1,9})?(Z|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)$') OR given < '1684' OR given >= '2256' THEN false
    WHEN substr(given, 9, 2)::int > extract(day FROM
      make_date(substr(given, 1, 4)::int, substr(given, 6, 2)::int, 1) + interval '1 month' - interval '1 day') THEN false
    ELSE instant_in(given)
      BETWEEN '1684-07-28T00:12:25.259009Z' AND '2255-06-05T23:47:34.740991Z' END
$$;

-- As String.prototype.trim() of JavaScript does.
CREATE FUNCTION trimmed(given text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
  SELECT btrim(given, E' \t\n\r\v\f\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a'
    || E'\u2028\u2029\u202f\u205f\u3000\ufeff')
$$;

CREATE FUNCTION has_control(given text) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
  SELECT given COLLATE "C" ~ E'[\u0001-\u001f\u007f-\u009f]'
$$;

-- Raises for a mistake in the site's program. What one row can't have is no mistake: the answer of the act says it.
CREATE FUNCTION check_rows(act text, document jsonb, needed text[], nullable text[] DEFAULT '{}', other text[] DEFAULT '{}')
RETURNS void STABLE LANGUAGE plpgsql AS $$
DECLARE
  fields text[] := needed || nullable || other;
  instants text[] := ARRAY(SELECT field FROM unnest(fields) AS field WHERE right(field, 3) = '_at');
  name_max int := CASE act WHEN 'put_keys' THEN 64 ELSE 100 END;
  -- What names the record of a row.
  naming text := CASE act WHEN 'put_users' THEN 'external_id' WHEN 'put_servers' THEN 'id' WHEN 'put_keys' THEN 'key_hash'
    ELSE 'slug' END;
  mistake text;
BEGIN
  IF jsonb_typeof(document) <> 'array' THEN
    RAISE '%: must be an array', act USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT n - 1 || ']' || complaint INTO mistake
  FROM jsonb_array_elements(document) WITH ORDINALITY AS given (r, n), LATERAL (SELECT CASE
    WHEN jsonb_typeof(r) <> 'object' THEN ': must be an object'
    WHEN NOT r ?& needed THEN
      (SELECT '.' || field || ': is missing' FROM unnest(needed) AS field WHERE NOT r ? field LIMIT 1)
    WHEN r - fields <> '{}' THEN
      (SELECT '.' || left(field, 80) || ': is not a field of ' || act FROM jsonb_object_keys(r - fields) AS field LIMIT 1)
    WHEN jsonb_path_exists(r - nullable, 'strict $.* ? (@.type() != "string")')
      OR jsonb_path_exists(r, 'strict $.* ? (@.type() != "string" && @.type() != "null")') THEN
      (SELECT '.' || key || ': must be a string' || CASE WHEN key = ANY (nullable) THEN ' or null' ELSE '' END
      FROM jsonb_each(r) WHERE jsonb_typeof(value) <> 'string' AND NOT (value = 'null' AND key = ANY (nullable)) LIMIT 1)
    WHEN char_length(r->>'external_id') NOT BETWEEN 1 AND 255 THEN
      '.external_id: must have 1 to 255 characters, not ' || char_length(r->>'external_id')
    WHEN has_control(r->>'external_id') THEN '.external_id: must have no control characters'
    WHEN r->>'id' !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
      '.id: must be a UUID (8-4-4-4-12 hex digits)'
    WHEN r->>'key_hash' !~* '^[0-9a-f]{64}$' THEN
      '.key_hash: must be the SHA-256 of a full key: 64 hex digits (32 bytes)'
    WHEN act = 'revoke_keys' AND (r ? 'id') = (r ? 'key_hash') THEN ': needs either an "id" or a "key_hash"'
    WHEN r->>'prefix' COLLATE "C" !~ '^svc_live_[!-~]{0,7}$' THEN '.prefix: must be the first characters of the key, '
      || 'at most 16. It must begin with svc_live_, because the API accepts no other keys'
    WHEN EXISTS (SELECT FROM unnest(instants) AS field WHERE NOT is_instant(r->>field)) THEN
      (SELECT '.' || field || ': must be an ISO 8601 instant such as 2026-01-31T12:00:00Z'
      FROM unnest(instants) AS field WHERE NOT is_instant(r->>field) LIMIT 1)
    WHEN r->>'role' NOT IN ('owner', 'member') THEN '.role: must be owner or member'
    WHEN act = 'put_servers' THEN NULL
    WHEN char_length(r->>'slug') > 64 OR r->>'slug' !~ '^[a-z0-9]+(-[a-z0-9]+)*$' THEN
      '.slug: A slug can contain only lowercase letters, digits and single hyphens, at most 64 characters, not '
      || to_json(left(r->>'slug', 80)) || '.'
    WHEN char_length(trimmed(r->>'name')) NOT BETWEEN 1 AND name_max THEN
      '.name: must have 1 to ' || name_max || ' characters, not ' || char_length(trimmed(r->>'name'))
    WHEN has_control(trimmed(r->>'name')) THEN '.name: must have no control characters'
  END AS complaint) AS judged
  WHERE complaint IS NOT NULL LIMIT 1;
  IF mistake IS NULL AND left(act, 4) = 'put_' THEN
    SELECT rows[2] || '].' || naming || ': is ' || CASE act WHEN 'put_keys' THEN 'the same key' ELSE to_json(name)::text END
      || ', as of ' || act || '[' || rows[1] || ']' INTO mistake
    FROM (
      SELECT array_agg(n - 1 ORDER BY n) AS rows, name
      FROM jsonb_array_elements(document) WITH ORDINALITY AS given (r, n), LATERAL (SELECT (CASE act
        WHEN 'put_members' THEN concat_ws(' ', r->>'slug', r->>'external_id')
        WHEN 'put_users' THEN r->>naming ELSE lower(r->>naming) END) COLLATE "C" AS name) AS called
      GROUP BY name
    ) AS named WHERE cardinality(rows) > 1 ORDER BY rows LIMIT 1;
  END IF;
  IF mistake IS NOT NULL THEN
    RAISE '%[%', act, mistake USING ERRCODE = 'invalid_parameter_value';
  END IF;
END
$$;

-- A list of all is older than the statement that takes it, and lacks what another transaction has added since.
CREATE FUNCTION check_all(act text, document jsonb, consequence text) RETURNS void STABLE LANGUAGE plpgsql AS $$
BEGIN
  IF document = '[]' THEN
    RAISE '%: an empty list would %', act, consequence USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF current_setting('transaction_isolation') IN ('read committed', 'read uncommitted') THEN
    RAISE '%: with a list of all, call this in BEGIN ISOLATION LEVEL REPEATABLE READ', act
      USING ERRCODE = 'invalid_transaction_state';
  END IF;
END
$$;

-- A crash must not lose a ban or a revocation that the site believes done.
CREATE FUNCTION make_durable() RETURNS void LANGUAGE sql AS $$
  SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') IN ('off', 'local')
$$;

-- Adds an entry to the audit log. The id begins with the time, so that later entries have greater ids.
CREATE FUNCTION note(action text, user_id uuid, subject text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  microseconds bigint := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
  INSERT INTO audit_log (id, occurred_at, user_id, action, subject, address)
  VALUES ((lpad(to_hex(microseconds / 1000), 12, '0') || '7' || lpad(to_hex(microseconds % 1000 * 4), 3, '0')
    || substr(gen_random_uuid()::text, 20))::uuid, now(), note.user_id, note.action, note.subject, 'site');
  RETURN true;
END
$$;

-- Users. A second usable index would be a trap for the planner: coalesce(email, '') can't use that of email, which has
-- all users without an address in one place.

CREATE FUNCTION users_in(document jsonb) RETURNS TABLE (
  n bigint, r jsonb, external_id text, has_email boolean, email text, complaint text, created_at timestamptz,
  has_ban boolean, banned_at timestamptz
) STABLE ROWS 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT given.n, given.r, given.r->>'external_id', given.r ? 'email', CASE WHEN wrong IS NULL THEN lowered END,
    wrong, instant_in(given.r->>'created_at'), given.r ? 'banned_at', instant_in(given.r->>'banned_at')
  FROM rows_in(document) AS given
    CROSS JOIN LATERAL (SELECT lower(given.r->>'email' COLLATE "C") COLLATE "default" AS lowered) AS address
    LEFT JOIN operator_addresses AS listed ON listed.email = lowered
    CROSS JOIN LATERAL (SELECT CASE
      WHEN lowered COLLATE "C" !~ '^[!-?A-~]+@[!-?A-~]+$' OR char_length(lowered) > 254 THEN 'address not ASCII'
      WHEN listed.email IS NOT NULL THEN 'address of an operator'
    END AS wrong) AS judged;
END
$$;

-- Gives users the addresses and bans of the document.
CREATE FUNCTION write_users(document jsonb) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  judged int;
BEGIN
  -- Frees first, so that two users can swap their addresses.
  UPDATE users SET email = NULL, email_issuer = NULL FROM users_in(document) AS given
  WHERE users.external_id = ANY (ARRAY[given.external_id]) AND has_email AND users.email <> coalesce(given.email, '')
    AND disabled_at IS NULL;
  -- Once more if another transaction takes an address meanwhile, which is then taken.
  FOR attempt IN 1..3 LOOP
    BEGIN
      UPDATE users SET email = free.email, email_issuer = NULL FROM (
        SELECT DISTINCT ON (given.email) users.id, given.email FROM users_in(document) AS given
          JOIN users ON users.external_id = ANY (ARRAY[given.external_id])
        WHERE given.email IS NOT NULL AND coalesce(users.email, '') = '' AND disabled_at IS NULL
          AND NOT EXISTS (SELECT FROM users AS taken WHERE taken.email = ANY (ARRAY[given.email]))
        ORDER BY given.email, n
      ) AS free WHERE users.id = ANY (ARRAY[free.id]);
      EXIT;
    EXCEPTION WHEN unique_violation THEN
      IF attempt = 3 OR current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE 'put_users: another transaction took an address' USING ERRCODE = 'serialization_failure';
      END IF;
    END;
  END LOOP;
  -- A ban changes the keys, in any order.
  PERFORM FROM users_in(document) AS given JOIN users ON users.external_id = ANY (ARRAY[given.external_id])
    JOIN api_keys AS keys ON keys.user_id = ANY (ARRAY[users.id])
  WHERE has_ban AND users.banned_at IS DISTINCT FROM given.banned_at
  ORDER BY uuid_send(keys.id) FOR NO KEY UPDATE OF keys;
  WITH changed AS (
    UPDATE users SET banned_at = given.banned_at
    FROM users_in(document) AS given JOIN users AS old ON old.external_id = ANY (ARRAY[given.external_id])
    WHERE users.id = ANY (ARRAY[old.id]) AND has_ban AND old.banned_at IS DISTINCT FROM given.banned_at
    RETURNING users.id, coalesce(users.email, users.external_id) AS name, old.banned_at AS before, users.banned_at AS after
  )
  SELECT count(note(CASE WHEN after IS NULL THEN 'user unbanned' ELSE 'user banned' END, id, name)) INTO judged
  FROM changed WHERE before IS NULL OR after IS NULL;
  IF judged > 0 THEN PERFORM make_durable(); END IF;
END
$$;

CREATE FUNCTION put_users(document jsonb, all_users boolean DEFAULT false) RETURNS jsonb
STRICT LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
  todo jsonb;
  ids uuid[];
  is_renaming boolean;
  emails text[];
  bans timestamptz[];
  added int := 0;
  changed int := 0;
  banned int;
  refused jsonb;
BEGIN
  PERFORM check_rows('put_users', document, '{external_id}', '{email,banned_at}', '{created_at}');
  IF all_users THEN PERFORM check_all('put_users', document, 'ban all users'); END IF;
  SELECT jsonb_agg(r ORDER BY n), array_agg(users.id ORDER BY users.id) FILTER (WHERE users.id IS NOT NULL),
    bool_or(has_email AND users.email IS DISTINCT FROM given.email)
  INTO todo, ids, is_renaming
  FROM users_in(document) AS given LEFT JOIN users ON users.external_id = ANY (ARRAY[given.external_id])
  WHERE users.id IS NULL OR has_email AND users.email IS DISTINCT FROM given.email
    OR has_ban AND users.banned_at IS DISTINCT FROM given.banned_at;
  IF todo IS NOT NULL THEN
    INSERT INTO users (external_id, created_at)
    SELECT external_id, coalesce(created_at, now()) FROM users_in(todo) AS given
    WHERE NOT EXISTS (SELECT FROM users WHERE users.external_id = ANY (ARRAY[given.external_id]))
    ORDER BY external_id ON CONFLICT (external_id) DO NOTHING;
    GET DIAGNOSTICS added = ROW_COUNT;
    -- A new address takes the stronger lock, and a ban waits for no transaction that only adds servers.
    IF is_renaming THEN
      PERFORM FROM rows_in(todo) JOIN users ON external_id = ANY (ARRAY[r->>'external_id'])
      ORDER BY uuid_send(id) FOR UPDATE OF users;
    ELSE
      PERFORM FROM rows_in(todo) JOIN users ON external_id = ANY (ARRAY[r->>'external_id'])
      ORDER BY uuid_send(id) FOR NO KEY UPDATE OF users;
    END IF;
    SELECT array_agg(users.id), array_agg(email), array_agg(banned_at) INTO ids, emails, bans
    FROM unnest(ids) AS differing (id) JOIN users ON users.id = ANY (ARRAY[differing.id]);
    PERFORM write_users(todo);
    SELECT count(*) INTO changed FROM unnest(ids, emails, bans) AS old (id, email, banned_at)
      JOIN users ON users.id = ANY (ARRAY[old.id])
    WHERE (users.email, users.banned_at) IS DISTINCT FROM (old.email, old.banned_at);
  END IF;
  IF all_users THEN banned := ban_others(document); END IF;
  SELECT coalesce(jsonb_agg(jsonb_build_object('row', n, 'external_id', given.external_id, 'reason', reason)
    ORDER BY n, reason), '[]') INTO refused
  FROM users_in(document) AS given JOIN users ON users.external_id = ANY (ARRAY[given.external_id]), LATERAL (VALUES
    (CASE WHEN complaint IS NOT NULL THEN complaint
      WHEN given.email <> coalesce(users.email, '') AND disabled_at IS NULL THEN 'address taken' END),
    (CASE WHEN has_ban AND given.banned_at IS NULL AND disabled_at IS NOT NULL THEN 'disabled by an operator' END)
  ) AS told (reason)
  WHERE reason IS NOT NULL;
  IF refused @> '[{"reason": "address of an operator"}]' THEN
    PERFORM note('site refused', users.id, 'mail address')
    FROM users_in(document) AS given JOIN users ON users.external_id = ANY (ARRAY[given.external_id])
    WHERE complaint = 'address of an operator' ORDER BY n;
  END IF;
  RETURN jsonb_build_object('added', added, 'changed', changed, 'refused', refused)
    || CASE WHEN all_users THEN jsonb_build_object('banned', banned) ELSE '{}' END;
END
$$;

-- A hashed list is no join, which the acts have no other way to make than row by row.
CREATE FUNCTION ban_others(document jsonb) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  ids uuid[] := ARRAY(
    SELECT id FROM users WHERE external_id IS NOT NULL AND banned_at IS NULL
      AND external_id NOT IN (SELECT r->>'external_id' FROM jsonb_array_elements(document) AS r)
    ORDER BY id FOR NO KEY UPDATE
  );
BEGIN
  IF ids <> '{}' THEN PERFORM make_durable(); END IF;
  UPDATE users SET banned_at = now() WHERE id = ANY (ids);
  PERFORM note('user banned', id, coalesce(email, external_id)) FROM users WHERE id = ANY (ids);
  RETURN cardinality(ids);
END
$$;

-- The user's organizations and the servers there go to the oldest owner, or else the oldest member. An organization
-- without another member goes, and servers of others in it become personal drafts.
CREATE FUNCTION leave_organizations(leaving uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  places uuid[] := ARRAY(
    SELECT organization_id FROM members WHERE user_id = leaving
    UNION SELECT organization_id FROM servers WHERE created_by = leaving AND coalesce(organization_id, leaving) <> leaving
  );
  place uuid;
  heir uuid;
BEGIN
  PERFORM FROM unnest(places) AS given JOIN organizations ON id = ANY (ARRAY[given])
  ORDER BY uuid_send(id) FOR UPDATE OF organizations;
  FOREACH place IN ARRAY places LOOP
    SELECT user_id INTO heir FROM members WHERE organization_id = place AND user_id <> leaving
    ORDER BY role DESC, joined_at, user_id LIMIT 1;
    IF FOUND THEN
      UPDATE servers SET created_by = heir, slug = CASE WHEN NOT EXISTS (
        SELECT FROM servers AS own
        WHERE own.created_by = heir AND own.organization_id = place AND own.slug = servers.slug
      ) THEN slug END
      WHERE created_by = leaving AND organization_id = place;
      UPDATE members SET role = 'owner' WHERE organization_id = place AND user_id = heir AND role <> 'owner'
        AND EXISTS (SELECT FROM members WHERE organization_id = place AND user_id = leaving AND role = 'owner');
    ELSIF EXISTS (SELECT FROM members WHERE organization_id = place) THEN
      UPDATE servers SET organization_id = NULL, status = 'draft', slug = NULL
      WHERE organization_id = place AND created_by <> leaving;
      DELETE FROM organizations WHERE id = place;
    END IF;
  END LOOP;
  DELETE FROM members WHERE user_id = leaving;
END
$$;

-- What stays of a user whom an operator disabled: else adding the user again would enable the user.
CREATE FUNCTION empty_user(emptied uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE users SET email = NULL, email_issuer = NULL, banned_at = coalesce(banned_at, now())
  WHERE id = emptied AND (email IS NOT NULL OR banned_at IS NULL);
  DELETE FROM servers WHERE created_by = emptied;
  DELETE FROM identities WHERE user_id = emptied;
  DELETE FROM passwords WHERE user_id = emptied;
  DELETE FROM sessions WHERE user_id = emptied;
  DELETE FROM sign_in_links WHERE user_id = emptied;
  DELETE FROM server_changes WHERE user_id = emptied;
  DELETE FROM checked_imports WHERE user_id = emptied;
END
$$;

CREATE FUNCTION remove_users(document jsonb) RETURNS jsonb STRICT LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  gone uuid[];
  removed int;
  refused jsonb;
BEGIN
  PERFORM check_rows('remove_users', document, '{external_id}');
  SELECT array_agg(DISTINCT id) INTO gone FROM (
    SELECT id FROM rows_in(document) JOIN users ON external_id = ANY (ARRAY[r->>'external_id'])
    ORDER BY uuid_send(id) FOR UPDATE OF users
  ) AS locked;
  IF gone IS NULL THEN RETURN '{"removed": 0, "refused": []}'; END IF;
  PERFORM make_durable();
  -- Not again for a user who is empty.
  PERFORM note('user removed', id, coalesce(email, external_id))
  FROM unnest(gone) AS leaving JOIN users ON id = ANY (ARRAY[leaving])
  WHERE disabled_at IS NULL OR email IS NOT NULL OR banned_at IS NULL;
  PERFORM FROM unnest(gone) AS leaving JOIN api_keys ON user_id = ANY (ARRAY[leaving])
  ORDER BY uuid_send(id) FOR UPDATE OF api_keys;
  UPDATE api_keys SET revoked_at = now() FROM unnest(gone) AS leaving
  WHERE user_id = ANY (ARRAY[leaving]) AND coalesce(revoked_at, 'infinity') = 'infinity';
  PERFORM leave_organizations(leaving) FROM unnest(gone) AS leaving
  WHERE (SELECT role FROM members WHERE user_id = leaving LIMIT 1) IS NOT NULL OR (
    SELECT name FROM servers WHERE created_by = leaving AND coalesce(organization_id, leaving) <> leaving LIMIT 1
  ) IS NOT NULL;
  PERFORM FROM unnest(gone) AS leaving JOIN servers ON created_by = ANY (ARRAY[leaving])
  ORDER BY uuid_send(id) FOR UPDATE OF servers;
  DELETE FROM users USING unnest(gone) AS leaving WHERE id = ANY (ARRAY[leaving]) AND disabled_at IS NULL;
  GET DIAGNOSTICS removed = ROW_COUNT;
  PERFORM empty_user(id) FROM unnest(gone) AS leaving JOIN users ON id = ANY (ARRAY[leaving])
  WHERE disabled_at IS NOT NULL;
  SELECT coalesce(jsonb_agg(jsonb_build_object('row', n, 'external_id', external_id, 'reason', 'disabled by an operator')
    ORDER BY n), '[]') INTO refused
  FROM rows_in(document) JOIN users ON external_id = ANY (ARRAY[r->>'external_id']);
  RETURN jsonb_build_object('removed', removed, 'refused', refused);
END
$$;

-- Servers. Locks are taken in the order users, organizations, servers.

-- A server stays in its organization with its owner. To come there, or to another owner, the owner must be a member.
CREATE FUNCTION servers_in(document jsonb) RETURNS TABLE (
  n bigint, r jsonb, id uuid, owner uuid, place uuid, slug text, edition text, status text, version text,
  listing_kind text, is_different boolean, complaint text
) STABLE ROWS 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT given.n, given.r, (given.r->>'id')::uuid, users.id, wanted.*,
    known.id IS NULL OR known.updated_at <> instant_in(given.r->>'updated_at') OR
      (known.created_by, known.name, known.host_label, known.organization_id, known.slug, known.edition, known.status,
        known.version, known.listing_kind)
      IS DISTINCT FROM (users.id, given.r->>'name', given.r->>'address', wanted.place, wanted.slug, wanted.edition,
        wanted.status, wanted.version, wanted.listing_kind),
    CASE
      WHEN users.id IS NULL THEN 'no such user'
      WHEN holder.id IS NOT NULL AND holder.external_id IS NULL THEN 'of another account'
      WHEN has_control(concat(given.r->>'name', given.r->>'address', given.r->>'slug', given.r->>'edition',
        given.r->>'status', given.r->>'version', given.r->>'listing_kind')) THEN 'not one line'
      WHEN greatest(char_length(given.r->>'name') - 200, char_length(given.r->>'address') - 255,
        char_length(given.r->>'slug') - 200, char_length(given.r->>'edition') - 64, char_length(given.r->>'status') - 64,
        char_length(given.r->>'version') - 64, char_length(given.r->>'listing_kind') - 64) > 0 THEN 'too long'
      WHEN '' IN (given.r->>'name', given.r->>'address', given.r->>'edition', given.r->>'status') THEN 'empty'
      WHEN given.r->>'organization' IS NOT NULL AND wanted.place IS NULL THEN 'no such organization'
      WHEN wanted.place IS NULL OR (wanted.place = known.organization_id AND users.id = known.created_by) IS TRUE THEN NULL
      WHEN members.user_id IS NULL THEN 'not a member'
    END
  FROM rows_in(document) AS given LEFT JOIN users ON users.external_id = ANY (ARRAY[given.r->>'external_id'])
    LEFT JOIN servers AS known ON known.id = ANY (ARRAY[(given.r->>'id')::uuid])
    LEFT JOIN users AS holder ON holder.id = ANY (ARRAY[known.created_by])
    LEFT JOIN organizations AS named ON named.slug = ANY (ARRAY[given.r->>'organization'])
    CROSS JOIN LATERAL (SELECT
      CASE WHEN given.r ? 'organization' THEN named.id ELSE known.organization_id END AS place,
      CASE WHEN given.r ? 'slug' THEN given.r->>'slug' ELSE known.slug END AS slug,
      coalesce(given.r->>'edition', known.edition, 'java') AS edition,
      coalesce(given.r->>'status', known.status, 'published') AS status,
      CASE WHEN given.r ? 'version' THEN given.r->>'version' ELSE known.version END AS version,
      CASE WHEN given.r ? 'listing_kind' THEN given.r->>'listing_kind' ELSE known.listing_kind END AS listing_kind
    ) AS wanted
    LEFT JOIN members ON members.organization_id = ANY (ARRAY[wanted.place]) AND members.user_id = ANY (ARRAY[users.id]);
END
$$;

CREATE FUNCTION put_servers(document jsonb, all_servers boolean DEFAULT false) RETURNS jsonb
STRICT LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
  todo jsonb;
  added int := 0;
  changed int := 0;
  done int;
  removed int;
  refused jsonb;
BEGIN
  PERFORM check_rows('put_servers', document, '{id,external_id,name,address}', '{slug,version,listing_kind,organization}',
    '{edition,status,updated_at}');
  IF all_servers THEN PERFORM check_all('put_servers', document, 'remove all servers'); END IF;
  -- Again if another transaction removes a user or a member, or takes an id, before the rows are locked.
  FOR attempt IN 1..4 LOOP
    SELECT jsonb_agg(r ORDER BY n) FILTER (WHERE complaint IS NULL),
      coalesce(jsonb_agg(jsonb_build_object('row', n, 'id', id, 'reason', complaint) ORDER BY n)
        FILTER (WHERE complaint IS NOT NULL), '[]')
    INTO todo, refused FROM servers_in(document) WHERE complaint IS NOT NULL OR is_different;
    EXIT WHEN todo IS NULL;
    IF attempt = 4 THEN
      RAISE 'put_servers: other transactions keep changing the same rows' USING ERRCODE = 'serialization_failure';
    END IF;
    PERFORM FROM rows_in(todo) JOIN users ON external_id = ANY (ARRAY[r->>'external_id'])
    ORDER BY uuid_send(users.id) FOR KEY SHARE OF users;
    PERFORM FROM rows_in(todo) JOIN organizations ON organizations.slug = ANY (ARRAY[r->>'organization'])
    ORDER BY uuid_send(organizations.id) FOR KEY SHARE OF organizations;
    WITH written AS (
      INSERT INTO servers AS ours (
        id, created_by, organization_id, name, host_label, slug, edition, status, version, listing_kind, updated_at
      )
      SELECT id, owner, place, r->>'name', r->>'address', slug, edition, status, version, listing_kind,
        coalesce(instant_in(r->>'updated_at'), now())
      FROM servers_in(todo) WHERE complaint IS NULL ORDER BY id
      ON CONFLICT (id) DO UPDATE SET created_by = excluded.created_by, organization_id = excluded.organization_id,
        name = excluded.name, slug = excluded.slug, host_label = excluded.host_label, edition = excluded.edition,
        status = excluded.status, version = excluded.version, listing_kind = excluded.listing_kind,
        updated_at = excluded.updated_at
      WHERE (SELECT external_id FROM users WHERE users.id = ours.created_by) IS NOT NULL
      RETURNING xmax = 0 AS is_new
    )
    SELECT added + count(*) FILTER (WHERE is_new), changed + count(*) FILTER (WHERE NOT is_new), count(*)
    INTO added, changed, done FROM written;
    EXIT WHEN done = jsonb_array_length(todo);
  END LOOP;
  IF all_servers THEN
    DELETE FROM servers WHERE id = ANY (ARRAY(
      SELECT servers.id FROM servers JOIN users ON created_by = users.id
      WHERE external_id IS NOT NULL AND organization_id IS NULL
        AND servers.id NOT IN (SELECT (r->>'id')::uuid FROM jsonb_array_elements(document) AS r)
      ORDER BY servers.id FOR UPDATE OF servers
    ));
    GET DIAGNOSTICS removed = ROW_COUNT;
  END IF;
  RETURN jsonb_build_object('added', added, 'changed', changed, 'refused', refused)
    || CASE WHEN all_servers THEN jsonb_build_object('removed', removed) ELSE '{}' END;
END
$$;

CREATE FUNCTION remove_servers(document jsonb) RETURNS jsonb STRICT LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
  removed int;
  refused jsonb;
BEGIN
  PERFORM check_rows('remove_servers', document, '{id}');
  DELETE FROM servers USING unnest(ARRAY(
    SELECT servers.id FROM rows_in(document) JOIN servers ON servers.id = ANY (ARRAY[(r->>'id')::uuid])
      JOIN users ON users.id = ANY (ARRAY[created_by])
    WHERE external_id IS NOT NULL ORDER BY uuid_send(servers.id) FOR UPDATE OF servers
  )) AS given WHERE servers.id = ANY (ARRAY[given]);
  GET DIAGNOSTICS removed = ROW_COUNT;
  SELECT coalesce(jsonb_agg(jsonb_build_object('row', n, 'id', id, 'reason', 'of another account') ORDER BY n), '[]')
  INTO refused FROM rows_in(document) JOIN servers ON id = ANY (ARRAY[(r->>'id')::uuid]);
  RETURN jsonb_build_object('removed', removed, 'refused', refused);
END
$$;

-- Keys. Locks are taken in the order gate, users, keys.

CREATE FUNCTION keys_in(document jsonb) RETURNS TABLE (
  n bigint, r jsonb, user_id uuid, hash bytea, name text, prefix text, created_at timestamptz, revoked_at timestamptz,
  is_operators boolean
) STABLE ROWS 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT given.n, given.r, users.id, decode(given.r->>'key_hash', 'hex'), trimmed(given.r->>'name'),
    given.r->>'prefix', instant_in(given.r->>'created_at'), instant_in(given.r->>'revoked_at'),
    listed.email IS NOT NULL OR lent.user_id IS NOT NULL
  FROM rows_in(document) AS given LEFT JOIN users ON users.external_id = ANY (ARRAY[given.r->>'external_id'])
    LEFT JOIN operator_addresses AS listed ON listed.email = users.email
    LEFT JOIN LATERAL (
      SELECT sessions.user_id FROM sessions WHERE sessions.user_id = ANY (ARRAY[users.id]) AND operator_until > now() LIMIT 1
    ) AS lent ON true;
END
$$;

-- Returns how many keys are new.
CREATE FUNCTION write_keys(document jsonb) RETURNS int LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  noted int;
BEGIN
  WITH renamed AS (
    UPDATE api_keys AS keys SET name = given.name, prefix = coalesce(given.prefix, keys.prefix)
    FROM keys_in(document) AS given JOIN api_keys AS old ON key_hash = ANY (ARRAY[hash])
    WHERE keys.id = ANY (ARRAY[old.id]) AND old.user_id = given.user_id
      AND (old.name <> given.name OR old.prefix <> given.prefix)
    RETURNING keys.id, keys.user_id, old.name <> keys.name AS is_renamed
  )
  SELECT count(note('key renamed', user_id, id::text)) INTO noted FROM renamed WHERE is_renamed;
  WITH revoked AS (
    UPDATE api_keys AS keys SET revoked_at = given.revoked_at FROM keys_in(document) AS given
    WHERE key_hash = ANY (ARRAY[hash]) AND keys.user_id = given.user_id AND keys.revoked_at IS NULL
      AND given.revoked_at IS NOT NULL
    RETURNING keys.id, keys.user_id
  )
  SELECT count(note('key revoked', user_id, id::text)) INTO noted FROM revoked;
  WITH inserted AS (
    INSERT INTO api_keys (user_id, name, prefix, key_hash, created_at, revoked_at)
    SELECT user_id, name, coalesce(prefix, 'svc_live_'), hash, coalesce(created_at, now()), ended_at FROM (
      SELECT given.*, ended_at, count(*) FILTER (WHERE ended_at IS NULL) OVER (PARTITION BY user_id ORDER BY n) AS place
      FROM keys_in(document) AS given, LATERAL (SELECT coalesce(given.revoked_at,
        (SELECT listed.revoked_at FROM revoked_hashes AS listed WHERE key_hash = hash)) AS ended_at) AS told
      WHERE user_id IS NOT NULL AND NOT EXISTS (SELECT FROM api_keys WHERE key_hash = ANY (ARRAY[hash]))
    ) AS new
    WHERE ended_at IS NOT NULL OR place + (
      SELECT count(*) FROM api_keys WHERE api_keys.user_id = new.user_id AND api_keys.revoked_at IS NULL
    ) <= 5
    ORDER BY user_id, n ON CONFLICT (key_hash) DO NOTHING
    RETURNING id, user_id
  )
  SELECT count(note('key imported', user_id, id::text)) INTO noted FROM inserted;
  RETURN noted;
END
$$;

CREATE FUNCTION put_keys(document jsonb) RETURNS jsonb STRICT LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
  todo jsonb;
  owners uuid[];
  known uuid[] := '{}';
  added int := 0;
  refused jsonb;
BEGIN
  PERFORM check_rows('put_keys', document, '{external_id,name,key_hash}', '{revoked_at}', '{prefix,created_at}');
  SELECT jsonb_agg(r ORDER BY n), array_agg(given.user_id) FILTER (WHERE keys.id IS NULL) INTO todo, owners
  FROM keys_in(document) AS given LEFT JOIN api_keys AS keys ON key_hash = ANY (ARRAY[hash])
  WHERE given.user_id IS NOT NULL AND (keys.id IS NULL AND NOT is_operators OR keys.user_id = given.user_id AND (keys.name <> given.name
    OR keys.prefix <> given.prefix OR keys.revoked_at IS NULL AND given.revoked_at IS NOT NULL));
  IF todo IS NOT NULL THEN
    PERFORM make_durable();
    IF owners IS NOT NULL THEN
      LOCK TABLE key_gate IN SHARE MODE;
      PERFORM FROM unnest(owners) AS owner JOIN users ON users.id = ANY (ARRAY[owner])
      ORDER BY uuid_send(users.id) FOR NO KEY UPDATE OF users;
    END IF;
    -- One that another transaction has added since is a known key, too.
    known := ARRAY(
      SELECT keys.id FROM keys_in(todo) AS given JOIN api_keys AS keys ON key_hash = ANY (ARRAY[hash])
      WHERE keys.user_id = given.user_id AND (keys.name <> given.name OR keys.prefix <> given.prefix
        OR keys.revoked_at IS NULL AND given.revoked_at IS NOT NULL)
      ORDER BY uuid_send(keys.id) FOR NO KEY UPDATE OF keys
    );
    added := write_keys(todo);
  END IF;
  SELECT coalesce(jsonb_agg(jsonb_build_object('row', n, 'key_hash', encode(hash, 'hex'), 'reason', reason) ORDER BY n),
    '[]') INTO refused
  FROM (
    SELECT n, hash, CASE
      WHEN given.user_id IS NULL THEN 'no such user'
      WHEN keys.user_id <> given.user_id THEN 'of another account'
      WHEN keys.id IS NULL AND is_operators THEN 'account of an operator'
      WHEN keys.id IS NULL THEN 'sixth key'
      WHEN keys.revoked_at IS NOT NULL AND given.revoked_at IS NULL THEN 'stays revoked'
    END AS reason
    FROM keys_in(document) AS given LEFT JOIN api_keys AS keys ON key_hash = ANY (ARRAY[hash])
  ) AS told WHERE reason IS NOT NULL;
  IF refused @> '[{"reason": "account of an operator"}]' THEN
    PERFORM note('site refused', given.user_id, 'key') FROM keys_in(document) AS given
      LEFT JOIN api_keys AS keys ON key_hash = ANY (ARRAY[hash])
    WHERE is_operators AND keys.id IS NULL ORDER BY n;
  END IF;
  RETURN jsonb_build_object('added', added, 'changed', cardinality(known), 'refused', refused);
END
$$;

CREATE FUNCTION revoke_keys(document jsonb) RETURNS jsonb STRICT LANGUAGE plpgsql SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
  revoked int;
  refused jsonb;
BEGIN
  PERFORM check_rows('revoke_keys', document, '{external_id}', '{}', '{id,key_hash}');
  PERFORM make_durable();
  WITH ended AS (
    UPDATE api_keys SET revoked_at = now() FROM unnest(ARRAY(
      SELECT keys.id FROM named_keys(document) AS given JOIN api_keys AS keys ON keys.id = ANY (ARRAY[given.id])
      WHERE is_own AND revoked_at IS NULL ORDER BY uuid_send(keys.id) FOR NO KEY UPDATE OF keys
    )) AS given WHERE id = ANY (ARRAY[given]) RETURNING id, user_id
  )
  SELECT count(note('key revoked', user_id, id::text)) INTO revoked FROM ended;
  SELECT coalesce(jsonb_agg(jsonb_build_object('row', n, 'reason', 'of another account') || called ORDER BY n), '[]')
  INTO refused FROM named_keys(document) WHERE id IS NOT NULL AND NOT is_own;
  RETURN jsonb_build_object('revoked', revoked, 'refused', refused);
END
$$;

-- The keys that rows name by an id or a hash. The id is null if there is no such key.
CREATE FUNCTION named_keys(document jsonb) RETURNS TABLE (n bigint, called jsonb, id uuid, is_own boolean)
STABLE ROWS 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT given.n, r - 'external_id', keys.id, coalesce(users.external_id = r->>'external_id', false)
  FROM rows_in(document) AS given
    LEFT JOIN api_keys AS hashed ON hashed.key_hash = ANY (ARRAY[decode(r->>'key_hash', 'hex')])
    LEFT JOIN api_keys AS keys ON keys.id = ANY (ARRAY[coalesce(hashed.id, (r->>'id')::uuid)])
    LEFT JOIN users ON users.id = ANY (ARRAY[keys.user_id]);
END
$$;

CREATE FUNCTION keys_of(external_id text) RETURNS TABLE (
  id uuid, name text, prefix text, created_at timestamptz, revoked_at timestamptz, last_used_at timestamptz
) STABLE STRICT LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off AS $$
  SELECT keys.id, keys.name, keys.prefix, keys.created_at, keys.revoked_at, keys.last_used_at
  FROM users JOIN api_keys AS keys ON keys.user_id = users.id
  WHERE users.external_id = keys_of.external_id ORDER BY keys.created_at, keys.id
$$;

-- Organizations and members. Few rows, so one after the other. Locks are taken in the order users, organizations.

CREATE FUNCTION is_of_other(organization uuid) RETURNS boolean STABLE LANGUAGE sql AS $$
  SELECT EXISTS (
    SELECT FROM members JOIN users ON users.id = ANY (ARRAY[user_id])
    WHERE organization_id = organization AND role = 'owner' AND external_id IS NULL
  )
$$;

CREATE FUNCTION oldest_owner(organization uuid) RETURNS uuid STABLE LANGUAGE sql AS $$
  SELECT user_id FROM members WHERE organization_id = organization AND role = 'owner' ORDER BY joined_at, user_id LIMIT 1
$$;

CREATE FUNCTION has_other_owner(organization uuid, member uuid) RETURNS boolean STABLE LANGUAGE sql AS $$
  SELECT EXISTS (SELECT FROM members WHERE organization_id = organization AND role = 'owner' AND user_id <> member)
$$;

CREATE FUNCTION by_row(refused jsonb[]) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
  SELECT coalesce(jsonb_agg(item ORDER BY (item->'row')::int), '[]') FROM unnest(refused) AS item
$$;

CREATE FUNCTION put_organizations(document jsonb) RETURNS jsonb STRICT LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  given record;
  known organizations;
  reason text;
  added int := 0;
  changed int := 0;
  refused jsonb[] := '{}';
BEGIN
  PERFORM check_rows('put_organizations', document, '{slug,name,external_id}');
  FOR given IN
    SELECT n, r->>'slug' AS slug, trimmed(r->>'name') AS name, users.id AS owner
    FROM rows_in(document) LEFT JOIN users ON external_id = ANY (ARRAY[r->>'external_id'])
    ORDER BY r->>'slug'
  LOOP
    SELECT * INTO known FROM organizations WHERE organizations.slug = given.slug;
    reason := CASE WHEN known.id IS NULL AND given.owner IS NULL THEN 'no such user'
      WHEN is_of_other(known.id) THEN 'of another account' END;
    IF reason IS NOT NULL THEN
      refused := refused || jsonb_build_object('row', given.n, 'slug', given.slug, 'reason', reason);
    ELSIF known.id IS NULL THEN
      INSERT INTO organizations VALUES (gen_random_uuid(), given.slug, given.name) RETURNING * INTO known;
      INSERT INTO members VALUES (known.id, given.owner, 'owner', now());
      PERFORM note('organization made', given.owner, known.id::text), note('member added', given.owner, known.id::text);
      added := added + 1;
    ELSIF known.name <> given.name THEN
      UPDATE organizations SET name = given.name WHERE id = known.id;
      PERFORM note('organization renamed', oldest_owner(known.id), known.id::text);
      changed := changed + 1;
    END IF;
  END LOOP;
  RETURN jsonb_build_object('added', added, 'changed', changed, 'refused', by_row(refused));
END
$$;

CREATE FUNCTION remove_organizations(document jsonb) RETURNS jsonb STRICT LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  given record;
  reason text;
  removed int := 0;
  refused jsonb[] := '{}';
BEGIN
  PERFORM check_rows('remove_organizations', document, '{slug}');
  FOR given IN
    SELECT n, id, slug FROM rows_in(document) JOIN organizations ON slug = ANY (ARRAY[r->>'slug'])
    ORDER BY uuid_send(id), n FOR UPDATE OF organizations
  LOOP
    reason := CASE WHEN is_of_other(given.id) THEN 'of another account'
      WHEN EXISTS (SELECT FROM servers WHERE organization_id = given.id) THEN 'has servers' END;
    IF reason IS NOT NULL THEN
      refused := refused || jsonb_build_object('row', given.n, 'slug', given.slug, 'reason', reason);
    ELSIF EXISTS (SELECT FROM organizations WHERE id = given.id) THEN
      PERFORM note('organization deleted', oldest_owner(given.id), given.id::text);
      DELETE FROM organizations WHERE id = given.id;
      removed := removed + 1;
    END IF;
  END LOOP;
  RETURN jsonb_build_object('removed', removed, 'refused', by_row(refused));
END
$$;

CREATE FUNCTION members_in(document jsonb) RETURNS TABLE (
  n bigint, called text, organization_id uuid, user_id uuid, role text, joined_at timestamptz, present text
) STABLE ROWS 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT given.n, r->>'external_id', organizations.id, users.id, r->>'role', instant_in(r->>'joined_at'),
    members.role
  FROM rows_in(document) AS given LEFT JOIN organizations ON organizations.slug = ANY (ARRAY[r->>'slug'])
    LEFT JOIN users ON users.external_id = ANY (ARRAY[r->>'external_id'])
    LEFT JOIN members ON members.organization_id = ANY (ARRAY[organizations.id])
      AND members.user_id = ANY (ARRAY[users.id]);
END
$$;

CREATE FUNCTION lock_members(document jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM members_in(document) AS given JOIN users ON users.id = ANY (ARRAY[given.user_id])
  ORDER BY uuid_send(users.id) FOR KEY SHARE OF users;
  PERFORM FROM members_in(document) AS given JOIN organizations ON organizations.id = ANY (ARRAY[given.organization_id])
  ORDER BY uuid_send(organizations.id) FOR UPDATE OF organizations;
END
$$;

CREATE FUNCTION put_members(document jsonb) RETURNS jsonb STRICT LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  given record;
  reason text;
  added int := 0;
  changed int := 0;
  refused jsonb[] := '{}';
BEGIN
  PERFORM check_rows('put_members', document, '{slug,external_id,role}', '{}', '{joined_at}');
  PERFORM lock_members(document);
  -- New owners first, so that one can follow another in one document.
  FOR given IN
    SELECT * FROM members_in(document) AS named WHERE present IS DISTINCT FROM role OR is_of_other(organization_id)
    ORDER BY role DESC, n
  LOOP
    reason := CASE WHEN given.organization_id IS NULL THEN 'no such organization'
      WHEN given.user_id IS NULL THEN 'no such user'
      WHEN is_of_other(given.organization_id) THEN 'of another account'
      WHEN given.present = 'owner' AND NOT has_other_owner(given.organization_id, given.user_id) THEN 'last owner' END;
    IF reason IS NOT NULL THEN
      refused := refused || jsonb_build_object('row', given.n, 'external_id', given.called, 'reason', reason);
    ELSIF given.present IS NULL THEN
      INSERT INTO members VALUES (given.organization_id, given.user_id, given.role, coalesce(given.joined_at, now()));
      PERFORM note('member added', given.user_id, given.organization_id::text);
      added := added + 1;
    ELSE
      UPDATE members SET role = given.role
      WHERE organization_id = given.organization_id AND user_id = given.user_id;
      PERFORM note('member role changed', given.user_id, given.organization_id::text);
      changed := changed + 1;
    END IF;
  END LOOP;
  RETURN jsonb_build_object('added', added, 'changed', changed, 'refused', by_row(refused));
END
$$;

CREATE FUNCTION remove_members(document jsonb) RETURNS jsonb STRICT LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  given record;
  reason text;
  removed int := 0;
  refused jsonb[] := '{}';
BEGIN
  PERFORM check_rows('remove_members', document, '{slug,external_id}');
  PERFORM lock_members(document);
  FOR given IN SELECT * FROM members_in(document) AS named WHERE present IS NOT NULL ORDER BY n LOOP
    reason := CASE WHEN is_of_other(given.organization_id) THEN 'of another account'
      WHEN given.present = 'owner' AND NOT has_other_owner(given.organization_id, given.user_id) THEN 'last owner' END;
    IF reason IS NOT NULL THEN
      refused := refused || jsonb_build_object('row', given.n, 'external_id', given.called, 'reason', reason);
    ELSE
      DELETE FROM members WHERE organization_id = given.organization_id AND user_id = given.user_id;
      PERFORM note('member removed', given.user_id, given.user_id::text);
      removed := removed + 1;
    END IF;
  END LOOP;
  RETURN jsonb_build_object('removed', removed, 'refused', by_row(refused));
END
$$;

-- Nested loops over indexes: a call costs what its rows cost, whatever the planner believes of the tables, or believed when
-- the session made its plan.
DO $do$
DECLARE
  act regprocedure;
BEGIN
  FOREACH act IN ARRAY ARRAY['put_users(jsonb, boolean)', 'remove_users(jsonb)', 'put_servers(jsonb, boolean)',
    'remove_servers(jsonb)', 'put_keys(jsonb)', 'revoke_keys(jsonb)', 'put_organizations(jsonb)',
    'remove_organizations(jsonb)', 'put_members(jsonb)', 'remove_members(jsonb)']::regprocedure[]
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off
      SET enable_mergejoin = off SET enable_material = off SET jit = off', act);
  END LOOP;
END
$do$;

-- Only the owner grants acts. A role that may name our domains could make an operator that fits them better than
-- PostgreSQL's own.
REVOKE EXECUTE ON FUNCTION rows_in, instant_in, is_instant, trimmed, has_control, check_rows, check_all, make_durable, note,
  users_in, write_users, put_users, ban_others, leave_organizations, empty_user, remove_users, servers_in, put_servers,
  remove_servers, keys_in, write_keys, put_keys, revoke_keys, named_keys, keys_of, is_of_other, oldest_owner,
  has_other_owner, by_row, put_organizations, remove_organizations, members_in, lock_members, put_members,
  remove_members
FROM PUBLIC;
REVOKE USAGE ON TYPE sha256, key_name, key_slot FROM PUBLIC;

-- No other role has a right on a table: `migrate` has looked. So no row needs a policy, and no column a view.
DROP VIEW api_key_uses;
DROP POLICY users_seen ON users;
DROP POLICY users_of_a_site ON users;
ALTER TABLE users DISABLE ROW LEVEL SECURITY;
DROP POLICY identities_seen ON identities;
DROP POLICY identities_of_a_site ON identities;
ALTER TABLE identities DISABLE ROW LEVEL SECURITY;
DROP POLICY api_keys_of_a_site ON api_keys;
ALTER TABLE api_keys DISABLE ROW LEVEL SECURITY;
DROP POLICY servers_of_a_site ON servers;
ALTER TABLE servers DISABLE ROW LEVEL SECURITY;
