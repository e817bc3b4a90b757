-- oldest compatible program: 1

-- REPLACE deletes the rows that stand in its way. Those that refer to them stay or go as the connection's settings say: a
-- key could work without a user, or go without a trace in revoked_hashes. A trigger is not told of REPLACE, but its own
-- statements follow the policy of the statement that fired it. So it tries to insert the first row of the ledger again: the
-- row is ignored, or replaced until the abort puts it back.
CREATE TRIGGER users_replaced_by_insert BEFORE INSERT ON users
WHEN EXISTS (
  SELECT 1 FROM users WHERE (email = new.email OR external_id = new.external_id OR rowid = new.rowid) AND id <> new.id
) BEGIN
  INSERT OR IGNORE INTO schema_migrations VALUES (1, 'replaced', 1, 0);
  SELECT raise(ABORT, 'this would replace another user and leave the keys: use ON CONFLICT, or change that user')
  FROM schema_migrations WHERE name = 'replaced';
END;

CREATE TRIGGER users_replaced_by_update BEFORE UPDATE ON users
WHEN EXISTS (
  SELECT 1 FROM users WHERE (email = new.email OR external_id = new.external_id OR rowid = new.rowid) AND id <> old.id
) BEGIN
  INSERT OR IGNORE INTO schema_migrations VALUES (1, 'replaced', 1, 0);
  SELECT raise(ABORT, 'this would replace another user and leave the keys: use ON CONFLICT, or change that user')
  FROM schema_migrations WHERE name = 'replaced';
END;

CREATE TRIGGER organizations_replaced_by_insert BEFORE INSERT ON organizations
WHEN EXISTS (
  SELECT 1 FROM organizations WHERE (slug = new.slug OR rowid = new.rowid) AND id <> new.id
) BEGIN
  INSERT OR IGNORE INTO schema_migrations VALUES (1, 'replaced', 1, 0);
  SELECT raise(ABORT, 'this would replace another organization and leave the servers: use ON CONFLICT, or change that one')
  FROM schema_migrations WHERE name = 'replaced';
END;

CREATE TRIGGER organizations_replaced_by_update BEFORE UPDATE ON organizations
WHEN EXISTS (
  SELECT 1 FROM organizations WHERE (slug = new.slug OR rowid = new.rowid) AND id <> old.id
) BEGIN
  INSERT OR IGNORE INTO schema_migrations VALUES (1, 'replaced', 1, 0);
  SELECT raise(ABORT, 'this would replace another organization and leave the servers: use ON CONFLICT, or change that one')
  FROM schema_migrations WHERE name = 'replaced';
END;
