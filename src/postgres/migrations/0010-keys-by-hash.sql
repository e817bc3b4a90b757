-- oldest compatible program: 1

-- Finds the keys of claims with less work than the unique index, which stays: it refuses a second key of one hash, and
-- tells the planner before the first ANALYZE that a hash has one row. An operator may have made the index before.
CREATE INDEX IF NOT EXISTS api_keys_by_hash ON api_keys USING hash (key_hash);
