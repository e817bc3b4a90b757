import type { ClientBase } from 'pg'
import { NotConfigured } from '../model/faults.ts'
import { type Finding, ok, problem, sentenceOf } from '../model/health/finding.ts'
import type { Database } from './database.ts'

/*
 * Rights on our tables, views and columns that their owner or another role has granted to a role
 * other than the owner and the service's own. REVOKE on a table ends those on its columns, too.
 */
const GRANTED = `
  WITH ours AS (
    SELECT oid, relowner, relacl, quote_ident(current_schema()) || '.' || quote_ident(relname) AS name
    FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace
      AND relkind IN ('r', 'p', 'v', 'm')
      AND relowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('schema_migrations'))
  ), granted AS (
    SELECT name, relowner, (aclexplode(relacl)).grantee FROM ours
    UNION SELECT name, relowner, (aclexplode(attacl)).grantee FROM ours
    JOIN pg_attribute ON attrelid = oid AND NOT attisdropped
  )
  SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role,
    string_agg(name, ', ' ORDER BY name) AS objects
  FROM granted
  WHERE grantee <> relowner AND grantee <> (SELECT oid FROM pg_roles WHERE rolname = current_user)
  GROUP BY grantee ORDER BY role
`

interface Granted {
  role: string
  objects: string
}

function judgeGrants(granted: readonly Granted[]): Finding {
  if (granted.length === 0) return ok('grants', 'no other role has a right on the tables')
  const found = granted.map(({ role, objects }) => `${role} has rights on ${objects}`)
  const statements = granted.map(({ role, objects }) => `REVOKE ALL ON ${objects} FROM ${role}`)
  return problem(
    'grants',
    `${found.join('; ')}. Only the service may reach its tables, and a site calls functions`,
    `run ${statements.join('; ')}`,
  )
}

/** Looks for roles that can read or write our tables beside the service. */
export async function inspectGrants(database: Pick<Database, 'query'>): Promise<Finding> {
  return judgeGrants(await database.query<Granted>(GRANTED))
}

/** Throws NotConfigured if another role has a right on our tables; only reads. */
export async function assertNoForeignRights(client: ClientBase): Promise<void> {
  const finding = judgeGrants((await client.query<Granted>(GRANTED)).rows)
  if (finding.state !== 'ok') throw new NotConfigured(sentenceOf(finding))
}
