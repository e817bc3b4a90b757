-- oldest compatible program: 1

-- SET search_path FROM CURRENT below pins this schema by its name: "$user" would mean another schema to another role.
-- pg_temp comes last, or a session's temporary table would stand before ours.
SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);

-- Writers of servers end first. Readers go on, and so does the service.
LOCK TABLE servers IN SHARE ROW EXCLUSIVE MODE;

-- Names the owner and the transaction: a second change in one transaction finds the listing renewed. The transaction's
-- number comes again after a restore or a promotion. Together with these two times it does not.
CREATE FUNCTION listing_revision(owner uuid) RETURNS uuid STABLE LANGUAGE sql AS $$
  SELECT encode(substring(sha256(uuid_send(owner) || xid8send(pg_current_xact_id()) || timestamptz_send(now())
    || timestamptz_send(pg_postmaster_start_time())) FOR 16), 'hex')::uuid
$$;

-- Renews the listings of these owners in the order of the owners, so that two statements never wait for each other.
CREATE FUNCTION renew_listings(owners uuid[]) RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
  INSERT INTO listing_revisions AS known (user_id, revision, renewed_in)
  SELECT DISTINCT owner, listing_revision(owner), pg_current_xact_id() FROM unnest(owners) AS owner ORDER BY owner
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision, renewed_in = excluded.renewed_in
  WHERE known.revision <> excluded.revision
$$;

-- After a statement. An import has a statement for each server and renews once, so look first: it costs less.
CREATE FUNCTION servers_changed_together() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  owners uuid[];
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    owners := ARRAY(SELECT user_id FROM listing_revisions);
  ELSIF TG_OP = 'INSERT' THEN
    owners := ARRAY(
      SELECT owner FROM (SELECT DISTINCT created_by FROM after_change) AS changed (owner)
      WHERE (SELECT revision FROM listing_revisions WHERE user_id = owner) IS DISTINCT FROM listing_revision(owner)
    );
  ELSIF TG_OP = 'DELETE' THEN
    owners := ARRAY(SELECT DISTINCT created_by FROM before_change);
  ELSIF EXISTS (SELECT FROM before_change) THEN
    owners := ARRAY(
      SELECT owner FROM (SELECT created_by FROM before_change UNION SELECT created_by FROM after_change) AS changed (owner)
      WHERE (SELECT revision FROM listing_revisions WHERE user_id = owner) IS DISTINCT FROM listing_revision(owner)
    );
  END IF;
  IF owners <> '{}' THEN
    PERFORM renew_listings(owners);
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER servers_inserted AFTER INSERT ON servers REFERENCING NEW TABLE AS after_change
FOR EACH STATEMENT EXECUTE FUNCTION servers_changed_together();
CREATE TRIGGER servers_updated AFTER UPDATE ON servers
REFERENCING OLD TABLE AS before_change NEW TABLE AS after_change
FOR EACH STATEMENT EXECUTE FUNCTION servers_changed_together();
CREATE TRIGGER servers_deleted AFTER DELETE ON servers REFERENCING OLD TABLE AS before_change
FOR EACH STATEMENT EXECUTE FUNCTION servers_changed_together();

-- What arrives by logical replication has rows and no statements. It is applied in the role of a replica, and only in
-- that role the trigger of each row fires.
CREATE OR REPLACE FUNCTION servers_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM renew_listings(ARRAY[NEW.created_by]);
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM renew_listings(ARRAY[OLD.created_by]);
  ELSE
    PERFORM renew_listings(ARRAY[OLD.created_by, NEW.created_by]);
  END IF;
  RETURN NULL;
END
$$;
ALTER TABLE servers ENABLE REPLICA TRIGGER servers_changed;

CREATE OR REPLACE TRIGGER servers_truncated AFTER TRUNCATE ON servers
FOR EACH STATEMENT EXECUTE FUNCTION servers_changed_together();
ALTER TABLE servers ENABLE ALWAYS TRIGGER servers_truncated;

DROP FUNCTION servers_truncated();
DROP FUNCTION renew_listing(uuid);

-- A change that was missed until now is seen from here on. Nothing reads renewed_in any more.
UPDATE listing_revisions SET revision = gen_random_uuid();
