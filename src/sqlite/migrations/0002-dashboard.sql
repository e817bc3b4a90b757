-- oldest compatible program: 1

-- Sessions and ways to sign in: the columns are those of the sign-in library, its instants are ISO 8601 text.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token TEXT NOT NULL UNIQUE,
  expires_at TEXT NOT NULL,
  ip_address TEXT,
  user_agent TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_of_user ON sessions (user_id);

CREATE TABLE accounts (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  provider_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  password TEXT,
  access_token TEXT,
  refresh_token TEXT,
  id_token TEXT,
  access_token_expires_at TEXT,
  refresh_token_expires_at TEXT,
  scope TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (provider_id, account_id)
) STRICT;

CREATE INDEX accounts_of_user ON accounts (user_id);

-- What the service makes once and keeps: what its cookies are signed with, and the token of the setup link.
CREATE TABLE secrets (
  name TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Attempts to sign in that were not yet found to be good. A subject is the hash of who tries what from where.
CREATE TABLE sign_in_attempts (
  id TEXT PRIMARY KEY NOT NULL,
  subject TEXT NOT NULL,
  attempted_at INTEGER NOT NULL
) STRICT;

CREATE INDEX sign_in_attempts_by_subject ON sign_in_attempts (subject, attempted_at);
CREATE INDEX sign_in_attempts_by_age ON sign_in_attempts (attempted_at);

-- Whatever the user's state later on, what was done stays written.
CREATE TABLE audit_log (
  id TEXT PRIMARY KEY NOT NULL,
  occurred_at INTEGER NOT NULL,
  user_id TEXT,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  address TEXT NOT NULL
) STRICT;

CREATE INDEX audit_log_of_user ON audit_log (user_id, occurred_at);

CREATE TABLE members (
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_user ON members (user_id);

-- Organizations were made by importing into them: whoever did so owns them.
INSERT INTO members (organization_id, user_id, role)
SELECT DISTINCT organization_id, created_by, 'owner' FROM servers WHERE organization_id IS NOT NULL;

CREATE INDEX servers_of_organization ON servers (organization_id, updated_at DESC, id DESC)
WHERE organization_id IS NOT NULL;

-- How a key's requests were answered, by ten minutes counted from 1970. Kept for two days.
CREATE TABLE use_counts (
  slot INTEGER NOT NULL,
  api_key_id TEXT NOT NULL,
  answered INTEGER NOT NULL,
  limited INTEGER NOT NULL,
  revoked INTEGER NOT NULL,
  PRIMARY KEY (api_key_id, slot)
) STRICT, WITHOUT ROWID;

CREATE INDEX use_counts_by_age ON use_counts (slot);
