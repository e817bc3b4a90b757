-- oldest compatible program: 1

-- The sign-in link of a user, which an operator made. It works once. `token_hash` is SHA-256 in lowercase hex.
CREATE TABLE sign_in_links (
  user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- See migration 5: a trigger fires for every program.
CREATE TRIGGER users_removed_links AFTER DELETE ON users BEGIN
  DELETE FROM sign_in_links WHERE user_id = old.id;
END;
