-- oldest compatible program: 1

-- When the last backup was made. No row before the first one.
CREATE TABLE last_backup (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  made_at timestamptz NOT NULL
);
