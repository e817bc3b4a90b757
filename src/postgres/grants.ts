import type { ClientBase } from 'pg'
import { NotConfigured } from '../model/faults.ts'
import { type Finding, ok, problem, sentenceOf } from '../model/health/finding.ts'
import type { Database } from './database.ts'

/*
 * Rights on our tables, views and columns that their owner or another role has granted to a role
 * other than the owner and the service's own. REVOKE on a table ends those on its columns, too.
 * With the ids of functions, also the rights on our domains and on all other functions.
 */
const GRANTED = `
  WITH ours AS (
    SELECT relnamespace AS schema, relowner AS owner FROM pg_class
    WHERE oid = to_regclass('schema_migrations')
  ), tables AS (
    SELECT oid, relacl, quote_ident(current_schema()) || '.' || quote_ident(relname) AS name
    FROM pg_class JOIN ours ON relnamespace = schema AND relowner = owner
    WHERE relkind IN ('r', 'p', 'v', 'm')
  ), granted AS (
    SELECT '' AS kind, name, (aclexplode(relacl)).grantee FROM tables
    UNION SELECT '', name, (aclexplode(attacl)).grantee FROM tables
    JOIN pg_attribute ON attrelid = oid AND NOT attisdropped
    UNION SELECT 'FUNCTION ', oid::regprocedure::text, (aclexplode(proacl)).grantee
    FROM pg_proc JOIN ours ON pronamespace = schema AND proowner = owner
    WHERE oid <> ALL ($1::oid[])
    UNION SELECT 'DOMAIN ', oid::regtype::text, (aclexplode(typacl)).grantee
    FROM pg_type JOIN ours ON typnamespace = schema AND typowner = owner
    WHERE typtype = 'd' AND $1 IS NOT NULL
  )
  SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role,
    kind || string_agg(name, ', ' ORDER BY name) AS objects
  FROM granted
  WHERE grantee <> (SELECT owner FROM ours)
    AND grantee <> (SELECT oid FROM pg_roles WHERE rolname = current_user)
  GROUP BY grantee, kind ORDER BY role
`

interface Granted {
  role: string
  objects: string
}

function judgeGrants(granted: readonly Granted[]): Finding {
  if (granted.length === 0) return ok('grants', 'no other role has a right on the tables')
  const found = granted.map(({ role, objects }) => `${role} has rights on ${objects}`)
  const statements = granted.map(revocationOf)
  return problem(
    'grants',
    `${found.join('; ')}. Only the service may reach its tables, and a site calls functions`,
    `run ${statements.join('; ')}`,
  )
}

const revocationOf = ({ role, objects }: Granted) => `REVOKE ALL ON ${objects} FROM ${role}`

/** Looks for roles that can read or write our tables beside the service. */
export async function inspectGrants(database: Pick<Database, 'query'>): Promise<Finding> {
  return judgeGrants(await database.query<Granted>(GRANTED, [null]))
}

/** Throws NotConfigured if another role has a right on our tables; only reads. */
export async function assertNoForeignRights(client: ClientBase): Promise<void> {
  const finding = judgeGrants((await client.query<Granted>(GRANTED, [null])).rows)
  if (finding.state !== 'ok') throw new NotConfigured(sentenceOf(finding))
}

/**
 * Revokes what defaults of the database give to roles on new tables and functions. A function that
 * was there before keeps the rights that the owner has granted to a site, also if it is replaced.
 */
export async function withoutDefaultRights(
  client: ClientBase,
  create: () => Promise<unknown>,
): Promise<void> {
  const { rows } = await client.query(
    `SELECT coalesce(array_agg(oid), '{}') AS functions FROM pg_proc
     WHERE pronamespace = quote_ident(current_schema())::regnamespace`,
  )
  await create()
  const granted = await client.query<Granted>(GRANTED, [rows[0].functions])
  for (const each of granted.rows) await client.query(revocationOf(each))
}
