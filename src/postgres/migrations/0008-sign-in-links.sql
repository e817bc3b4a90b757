-- oldest compatible program: 1

-- The sign-in link of a user, which an operator made. It works once. `token_hash` is SHA-256 in lowercase hex.
CREATE TABLE sign_in_links (
  user_id uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  token_hash text NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL
);
