import { USE_INTERVAL } from '../listing/api-key.ts'
import { SERVERS_MAX } from '../listing/server.ts'

const INTERVAL = `interval '${USE_INTERVAL} microseconds'`
const LONG_AGO = `clock_timestamp() - ${INTERVAL}`

/*
 * The rows are locked before they are judged, and stamped after everything else was done. The obvious single UPDATE
 * judges and stamps with a time from before it waited for a lock, which is two uses in one second. SKIP LOCKED: while
 * somebody else is at a key, it is being used, and this call was too soon.
 *
 * What was locked is found again by its place (ctid), which spares a second search of the index. A row that somebody
 * changed after this statement began has another place by now: it is not stamped, and this call was too soon.
 */
export const USE = `
  WITH asked AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::uuid[]) WITH ORDINALITY AS asked (key_hash, remembered, n)
  ), epoch AS MATERIALIZED (
    SELECT coalesce(bool_and(started_at <= ${LONG_AGO}), false) AS is_over FROM service_epoch
  ), listed AS MATERIALIZED (
    SELECT n, api_keys.ctid AS locked_at, id, user_id, revision, coalesce(revision = remembered, false) AS is_same
    FROM asked JOIN api_keys USING (key_hash) LEFT JOIN listing_revisions USING (user_id)
    WHERE revoked_at IS NULL
      AND (last_used_at IS NULL OR last_used_at <= ${LONG_AGO}) AND (SELECT is_over FROM epoch)
    FOR NO KEY UPDATE OF api_keys SKIP LOCKED
  ), rows AS MATERIALIZED (
    SELECT n, servers.* FROM listed CROSS JOIN LATERAL (
      SELECT id, name, slug, host_label, edition, status, version, listing_kind,
        row_number() OVER (ORDER BY updated_at DESC, id DESC) AS place
      FROM servers WHERE created_by = listed.user_id AND organization_id IS NULL
      ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}
    ) AS servers WHERE NOT is_same
  ), used AS (
    UPDATE api_keys SET last_used_at = clock_timestamp() FROM listed
    WHERE api_keys.ctid = locked_at AND (SELECT count(*) FROM rows) >= 0
    RETURNING n
  )
  SELECT n::int, CASE WHEN used.n IS NULL THEN 'too soon' ELSE 'used' END, listed.id, user_id, revision, is_same,
    rows.id, name, slug, host_label, edition, status, version, listing_kind, place
  FROM listed LEFT JOIN used USING (n) LEFT JOIN rows USING (n)
  UNION ALL
  SELECT n::int,
    CASE
      WHEN revoked_at IS NOT NULL THEN 'revoked'
      WHEN NOT is_over THEN 'held off'
      WHEN last_used_at > clock_timestamp() THEN 'ahead'
      ELSE 'too soon'
    END,
    api_keys.id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM epoch CROSS JOIN asked LEFT JOIN listed USING (n) JOIN api_keys USING (key_hash)
  WHERE listed.n IS NULL
  ORDER BY 1, place
`

export type Verdict = 'used' | 'revoked' | 'held off' | 'ahead' | 'too soon'
export type UsedRow = [
  n: number,
  verdict: Verdict,
  apiKeyId: string,
  userId: string,
  revision: string | null,
  isSame: boolean,
  ...server: [string, string, string | null, string, string, string, string | null, string | null],
]

/** Of a listing that has none, since it never had a server: equal to none, so that it is read each time. */
export const NO_REVISION = '00000000-0000-0000-0000-000000000000'

/**
 * Steps 1 to 4 alone, with nothing changed: what can still be said when the statement above has failed. A stamp from
 * the future tells nothing about the last second, and nobody clamps it here.
 */
export const JUDGE = `
  SELECT n::int, id, revoked_at IS NOT NULL,
    coalesce(last_used_at > ${LONG_AGO} AND last_used_at <= clock_timestamp(), false)
  FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key_hash, n) JOIN api_keys USING (key_hash)
`

export type JudgedRow = [n: number, apiKeyId: string, isRevoked: boolean, isTooSoon: boolean]

/** A stamp from the future is that of a clock that was set back since; it would shut its key out until then. */
export const CLAMP = `
  UPDATE api_keys SET last_used_at = clock_timestamp()
  WHERE key_hash = ANY ($1::bytea[]) AND last_used_at > clock_timestamp()
`

/** An epoch from the future is clamped for the same reason: it would hold everybody off until then. */
export const EPOCH = `
  INSERT INTO service_epoch AS known VALUES (true, clock_timestamp())
  ON CONFLICT (only_row) DO UPDATE SET started_at = excluded.started_at
  WHERE known.started_at > excluded.started_at
`
