-- oldest compatible program: 11

-- No filter of key hashes needs these rules any more. A program that has the filter does not use it
-- without them.
DROP TRIGGER IF EXISTS api_keys_added;
DROP TRIGGER IF EXISTS api_keys_changed;
