-- oldest compatible program: 1

-- The latest changes of each user's servers, so that the user can undo them. `status` is what was set, or null for a
-- deletion. `servers` is JSON: the servers as they were before.
CREATE TABLE server_changes (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  changed_at timestamptz NOT NULL,
  status text,
  servers text NOT NULL,
  restored integer
);

CREATE INDEX server_changes_of_user ON server_changes (user_id, changed_at);

-- Imports that were checked and wait for the user. `entries` is JSON. `saved` is what the import did, once confirmed.
CREATE TABLE checked_imports (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  checked_at timestamptz NOT NULL,
  entries text NOT NULL,
  saved text
);

CREATE INDEX checked_imports_of_user ON checked_imports (user_id, checked_at);
