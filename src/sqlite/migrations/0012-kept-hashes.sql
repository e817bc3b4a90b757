-- oldest compatible program: 11

-- The serving process holds a filter of all key hashes and reads only rows with a larger serial to complete it. So each
-- new row gets a larger serial than any row before it, and a row keeps its serial and its hash. SQLite writes seq at the
-- end of the statement, so that the trigger below sees the largest serial before it.
CREATE TRIGGER api_keys_added AFTER INSERT ON api_keys
WHEN new.serial <= (SELECT seq FROM sqlite_sequence WHERE name = 'api_keys') BEGIN
  SELECT raise(ABORT, 'api_keys.serial of a new key must be larger than those before: leave it out');
END;

CREATE TRIGGER api_keys_changed AFTER UPDATE ON api_keys
WHEN new.serial <> old.serial OR new.key_hash <> old.key_hash BEGIN
  SELECT raise(ABORT, 'serial and key_hash of a key cannot change: revoke it and add a new key');
END;
