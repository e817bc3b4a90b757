-- oldest compatible program: 1

-- SQLite enforces REFERENCES only for a connection that asks for it, and its own command line does not. A trigger
-- fires for every program. Each deletes what the foreign keys of the schema say.
CREATE TRIGGER users_removed AFTER DELETE ON users BEGIN
  DELETE FROM api_keys WHERE user_id = old.id;
  DELETE FROM sessions WHERE user_id = old.id;
  DELETE FROM accounts WHERE user_id = old.id;
  DELETE FROM members WHERE user_id = old.id;
  DELETE FROM invitations WHERE invited_by = old.id;
  DELETE FROM servers WHERE created_by = old.id;
END;

CREATE TRIGGER organizations_removed AFTER DELETE ON organizations BEGIN
  DELETE FROM members WHERE organization_id = old.id;
  DELETE FROM invitations WHERE organization_id = old.id;
  DELETE FROM servers WHERE organization_id = old.id;
END;

-- What such a deletion has left behind until now.
DELETE FROM api_keys WHERE user_id NOT IN (SELECT id FROM users);
DELETE FROM sessions WHERE user_id NOT IN (SELECT id FROM users);
DELETE FROM accounts WHERE user_id NOT IN (SELECT id FROM users);
DELETE FROM members
WHERE user_id NOT IN (SELECT id FROM users) OR organization_id NOT IN (SELECT id FROM organizations);
DELETE FROM invitations
WHERE invited_by NOT IN (SELECT id FROM users) OR organization_id NOT IN (SELECT id FROM organizations);
-- NULL is the organization of a personal server, and NULL NOT IN (nothing) is true.
DELETE FROM servers
WHERE created_by NOT IN (SELECT id FROM users)
  OR (organization_id IS NOT NULL AND organization_id NOT IN (SELECT id FROM organizations));
