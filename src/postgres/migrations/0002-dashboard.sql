-- oldest compatible program: 1

-- Sessions and ways to sign in: the columns are those of the sign-in library.
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token text NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  ip_address text,
  user_agent text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE INDEX sessions_of_user ON sessions (user_id);

CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  provider_id text NOT NULL,
  account_id text NOT NULL,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (provider_id, account_id)
);

CREATE INDEX accounts_of_user ON accounts (user_id);

-- What the service makes once and keeps: what its cookies are signed with, and the token of the setup link.
CREATE TABLE secrets (
  name text PRIMARY KEY,
  value text NOT NULL
);

-- Attempts to sign in that were not yet found to be good. A subject is the hash of who tries what from where.
CREATE TABLE sign_in_attempts (
  id uuid PRIMARY KEY,
  subject text NOT NULL,
  attempted_at timestamptz NOT NULL
);

CREATE INDEX sign_in_attempts_by_subject ON sign_in_attempts (subject, attempted_at);
CREATE INDEX sign_in_attempts_by_age ON sign_in_attempts (attempted_at);

-- Whatever the user's state later on, what was done stays written.
CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  user_id uuid,
  action text NOT NULL,
  subject text NOT NULL,
  address text NOT NULL
);

CREATE INDEX audit_log_of_user ON audit_log (user_id, occurred_at);

CREATE TABLE members (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'member')),
  PRIMARY KEY (organization_id, user_id)
);

CREATE INDEX members_by_user ON members (user_id);

-- Organizations were made by importing into them: whoever did so owns them.
INSERT INTO members (organization_id, user_id, role)
SELECT DISTINCT organization_id, created_by, 'owner' FROM servers WHERE organization_id IS NOT NULL;

CREATE INDEX servers_of_organization ON servers (organization_id, updated_at DESC, id DESC)
WHERE organization_id IS NOT NULL;

-- How a key's requests were answered, by ten minutes counted from 1970. Kept for two days.
CREATE TABLE use_counts (
  slot integer NOT NULL,
  api_key_id uuid NOT NULL,
  answered integer NOT NULL,
  limited integer NOT NULL,
  revoked integer NOT NULL,
  PRIMARY KEY (api_key_id, slot)
);

CREATE INDEX use_counts_by_age ON use_counts (slot);
