-- oldest compatible program: 1

-- Archives are SQLite files of either engine, so both count the same migrations. PostgreSQL has no REPLACE, which most of
-- the SQLite migration of this number is about.

-- Owners add members by address, so open invitations end. Only 0.1.0 writes this table.
DELETE FROM invitations;
