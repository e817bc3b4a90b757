import { CLAIM_INTERVAL_US } from '../../model/claim.ts'
import { SERVERS_MAX } from '../../model/server-row.ts'

const INTERVAL = `interval '${CLAIM_INTERVAL_US} microseconds'`
const LONG_AGO = `clock_timestamp() - ${INTERVAL}`

/*
 * The statement locks the rows before it decides about them, and stamps them last. A simple UPDATE
 * would decide and stamp with a time from before it waited for a lock: two granted claims in one
 * second.
 *
 * SKIP LOCKED: another session may hold a row for any time, and the other keys must not wait. A
 * locked row is not a claim, so its key is 'busy', not limited. The next statement sees the other
 * session's change, if it has committed.
 *
 * The statement finds its locked rows by their place (ctid), which saves a second index search. A
 * row that another session changed after the snapshot has moved. It is not stamped, and its key is
 * 'busy', too.
 *
 * The usual outcome is a granted claim whose key and listing are as the caller holds them. One row
 * has the numbers of all these claims. Every other claim has a row of its own.
 */
export const CLAIM = `
  WITH asked AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::uuid[]) WITH ORDINALITY
      AS asked (key_hash, held_id, held_revision, n)
  ), epoch AS MATERIALIZED (
    SELECT coalesce(bool_and(started_at <= ${LONG_AGO}), false) AS is_over FROM service_epoch
  ), listed AS MATERIALIZED (
    SELECT n, api_keys.ctid AS locked_at, id, user_id, revision,
      coalesce(revision = held_revision AND id = held_id, false) AS is_held
    FROM asked JOIN api_keys USING (key_hash) LEFT JOIN listing_revisions USING (user_id)
    WHERE revoked_at IS NULL AND disabled_at IS NULL
      AND (last_used_at IS NULL OR last_used_at <= ${LONG_AGO}) AND (SELECT is_over FROM epoch)
    FOR NO KEY UPDATE OF api_keys SKIP LOCKED
  ), lists AS MATERIALIZED (
    SELECT n, (
      SELECT coalesce(json_agg(json_build_array(
        id, name, slug, host_label, edition, status, version, listing_kind
      )), '[]') FROM (
        SELECT * FROM servers WHERE created_by = listed.user_id AND organization_id IS NULL
        ORDER BY updated_at DESC, id DESC LIMIT ${SERVERS_MAX}
      ) AS newest
    ) AS servers
    FROM listed WHERE NOT is_held
  ), granted AS (
    UPDATE api_keys SET last_used_at = clock_timestamp() FROM listed
    WHERE api_keys.ctid = locked_at AND (SELECT count(*) FROM lists) >= 0
    RETURNING n, listed.id, listed.user_id, revision, is_held
  )
  SELECT 'held', NULL::int, NULL::uuid, NULL::uuid, NULL::uuid, string_agg(n::text, ',')
  FROM granted WHERE is_held
  UNION ALL
  SELECT 'granted', n::int, id, user_id, revision, servers::text FROM granted JOIN lists USING (n)
  UNION ALL
  SELECT
    CASE
      WHEN revoked_at IS NOT NULL OR disabled_at IS NOT NULL THEN 'revoked'
      WHEN NOT is_over THEN 'held off'
      WHEN last_used_at > clock_timestamp() THEN 'ahead'
      WHEN last_used_at > ${LONG_AGO} THEN 'limited'
      ELSE 'busy'
    END,
    n::int, api_keys.id, NULL, NULL, NULL
  FROM epoch CROSS JOIN asked LEFT JOIN granted USING (n) JOIN api_keys USING (key_hash)
  WHERE granted.n IS NULL
`

/** Numbers count the calls from 1. The servers are in the order of the listing. */
export type ClaimedRow =
  | [verdict: 'held', ...nulls: [null, null, null, null], numbers: string | null]
  | [
      verdict: 'granted',
      n: number,
      apiKeyId: string,
      userId: string,
      revision: string | null,
      servers: string,
    ]
  | [verdict: Refused, n: number, apiKeyId: string, ...nulls: [null, null, null]]
export type Refused = 'revoked' | 'held off' | 'ahead' | 'limited' | 'busy'

/** The columns of a server in `servers`. */
export type ListedServer = [
  id: string,
  name: string,
  slug: string | null,
  host_label: string,
  edition: string,
  status: string,
  version: string | null,
  listing_kind: string | null,
]

/**
 * The revision of a listing that never had a server. It equals no revision, so that the list is
 * always read.
 */
export const NO_REVISION = '00000000-0000-0000-0000-000000000000'

/**
 * Steps 1 to 4 without a change, for the time after the statement above has failed. A stamp from
 * the future tells nothing about the last second and is not clamped here.
 */
export const CLASSIFY = `
  SELECT n::int, id, revoked_at IS NOT NULL OR disabled_at IS NOT NULL,
    coalesce(last_used_at > ${LONG_AGO} AND last_used_at <= clock_timestamp(), false)
  FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key_hash, n) JOIN api_keys USING (key_hash)
`

export type ClassifiedRow = [n: number, apiKeyId: string, isRevoked: boolean, isLimited: boolean]

/**
 * A clock that was set back leaves stamps in the future, which would limit their keys until then.
 * Returns the clamped keys, without those that another session has locked.
 */
export const CLAMP = `
  WITH locked AS MATERIALIZED (
    SELECT id FROM api_keys WHERE id = ANY ($1::uuid[]) AND last_used_at > clock_timestamp()
    FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE api_keys SET last_used_at = clock_timestamp() FROM locked WHERE api_keys.id = locked.id
  RETURNING api_keys.id
`

/** An epoch from the future would reject all keys until then, so it is clamped, too. */
export const EPOCH = `
  INSERT INTO service_epoch AS known VALUES (true, clock_timestamp())
  ON CONFLICT (only_row) DO UPDATE SET started_at = excluded.started_at
  WHERE known.started_at > excluded.started_at
`
