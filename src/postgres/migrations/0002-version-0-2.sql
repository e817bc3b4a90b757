-- oldest compatible program: 1

-- Nothing: PostgreSQL has no REPLACE, which the SQLite migration of this number is about. Archives are SQLite files of
-- either engine, so both count the same migrations.
