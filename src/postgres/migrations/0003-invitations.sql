-- oldest compatible program: 1

-- Who was asked to join an organization, by e-mail address, and has not answered yet.
CREATE TABLE invitations (
  id uuid NOT NULL UNIQUE,
  organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  email text NOT NULL,
  invited_by uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  invited_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, email)
);

CREATE INDEX invitations_by_email ON invitations (email, invited_at);
CREATE INDEX invitations_by_inviter ON invitations (invited_by);

-- Since when somebody is a member; of those who were one before this column nobody knows.
ALTER TABLE members ADD COLUMN joined_at timestamptz NOT NULL DEFAULT 'epoch';

CREATE INDEX audit_log_by_age ON audit_log (occurred_at);
