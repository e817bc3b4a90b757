import { type Finding, ok, warning } from '../model/health/finding.ts'
import type { Database } from './database.ts'

/*
 * A standby follows the whole cluster, so that its sender belongs to no database, and it reports
 * its replay position. Base backups and log archives replay nothing. A role without pg_monitor sees
 * neither states nor positions, only the application names of PostgreSQL's own programs.
 */
const UNSAFE_STANDBYS = `
  SELECT count(*)::int AS count FROM pg_stat_replication AS sender
  WHERE (SELECT datid FROM pg_stat_activity WHERE pid = sender.pid) IS NULL
    AND current_setting('synchronous_standby_names') = ''
    AND CASE WHEN state IS NULL THEN application_name NOT IN ('pg_basebackup', 'pg_receivewal')
      ELSE replay_lsn IS NOT NULL END
`

/** Looks for standbys that do not confirm commits. */
export async function inspectStandbys(database: Database): Promise<Finding> {
  const rows = await database.query<{ count: number }>(UNSAFE_STANDBYS)
  const count = rows[0]!.count
  if (count === 0) return ok('standbys', 'no standby follows without confirming commits')
  const standbys = count === 1 ? 'a standby follows' : `${count} standbys follow`
  return warning(
    'standbys',
    `${standbys} the PostgreSQL server, and synchronous_standby_names is empty: a promotion can undo ` +
      'revocations, keys and changes of servers that were acknowledged',
    "set synchronous_standby_names, such as 'ANY 1 (a, b)' (docs/postgresql.md)",
  )
}
