-- oldest compatible program: 1

-- Counts are written for many keys at once and for one slot: rows of one slot that stand together, in the order of
-- their keys, share a page with their neighbours. By key first, each row was a page of its own to write.
CREATE TABLE use_counts_by_slot (
  slot INTEGER NOT NULL,
  api_key_id TEXT NOT NULL,
  answered INTEGER NOT NULL,
  limited INTEGER NOT NULL,
  revoked INTEGER NOT NULL,
  PRIMARY KEY (slot, api_key_id)
) STRICT, WITHOUT ROWID;

INSERT INTO use_counts_by_slot SELECT slot, api_key_id, answered, limited, revoked FROM use_counts ORDER BY 1, 2;

DROP TABLE use_counts;
ALTER TABLE use_counts_by_slot RENAME TO use_counts;
