-- oldest compatible program: 11

-- The last uses of keys that are not in use. In one table of 10,000,000 rows each key in use lies on a page of its own,
-- so that each change writes a page. The serving process moves rows here from last_uses, many at a time and none of them
-- younger than a second.
CREATE TABLE older_uses (
  api_key INTEGER PRIMARY KEY,
  used_at INTEGER NOT NULL
) STRICT;

DROP TRIGGER api_keys_removed;
CREATE TRIGGER api_keys_removed AFTER DELETE ON api_keys BEGIN
  DELETE FROM uses WHERE api_key = old.serial;
  DELETE FROM last_uses WHERE api_key = old.serial;
  DELETE FROM older_uses WHERE api_key = old.serial;
END;

DROP VIEW api_key_uses;
CREATE VIEW api_key_uses AS
SELECT
  api_keys.id AS api_key_id,
  api_keys.prefix AS prefix,
  coalesce(latest.used_at, last_uses.used_at, older_uses.used_at) AS last_used_at
FROM api_keys
LEFT JOIN (SELECT api_key, used_at, max(number) FROM uses GROUP BY api_key) AS latest ON latest.api_key = api_keys.serial
LEFT JOIN last_uses ON last_uses.api_key = api_keys.serial
LEFT JOIN older_uses ON older_uses.api_key = api_keys.serial;
