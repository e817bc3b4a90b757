-- oldest compatible program: 1

-- The latest changes of each user's servers, so that the user can undo them. `status` is what was set, or null for a
-- deletion. `servers` is JSON: the servers as they were before.
CREATE TABLE server_changes (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  changed_at INTEGER NOT NULL,
  status TEXT,
  servers TEXT NOT NULL,
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

-- See migration 5: a trigger fires for every program.
CREATE TRIGGER users_removed_changes AFTER DELETE ON users BEGIN
  DELETE FROM server_changes WHERE user_id = old.id;
  DELETE FROM checked_imports WHERE user_id = old.id;
END;
