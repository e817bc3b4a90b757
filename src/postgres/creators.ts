import { type Finding, ok, warning } from '../model/health/finding.ts'
import type { Database } from './database.ts'

/*
 * Grants to create in our schema by which another role that can sign in may do so. A superuser is a
 * member of every role, ours too. `pg_database_owner` is the owner of the database.
 */
const CREATORS = `
  WITH granted AS (
    SELECT nspname, grantee = nspowner AS is_owner, grantee AS granted_to,
      CASE grantee WHEN 'pg_database_owner'::regrole THEN datdba ELSE grantee END AS creator
    FROM pg_namespace CROSS JOIN LATERAL aclexplode(coalesce(nspacl, acldefault('n', nspowner)))
    JOIN pg_database ON datname = current_database()
    WHERE nspname = current_schema() AND privilege_type = 'CREATE'
  )
  SELECT quote_ident(nspname) AS schema, is_owner, quote_ident(current_user) AS service,
    CASE creator WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(creator)) END AS role,
    CASE granted_to WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(granted_to)) END AS grantee
  FROM granted WHERE EXISTS (
    SELECT FROM pg_roles AS other WHERE rolcanlogin
      AND CASE creator WHEN 0 THEN true ELSE pg_has_role(other.oid, creator, 'MEMBER') END
      AND NOT pg_has_role(other.oid, current_user, 'MEMBER')
  )
  ORDER BY role
`

interface Creator {
  schema: string
  is_owner: boolean
  service: string
  role: string
  grantee: string
}

/**
 * Looks for roles that can plant functions and operators which our statements would call. Our
 * statements resolve their names in our schema and nowhere else.
 */
export async function inspectCreators(database: Pick<Database, 'query'>): Promise<Finding> {
  const rows = await database.query<Creator>(CREATORS)
  const [first] = rows
  if (first === undefined) return ok('creators', 'no other role may create in the schema')
  const statements = rows.map(({ schema, is_owner, service, grantee }) =>
    is_owner
      ? `ALTER SCHEMA ${schema} OWNER TO ${service}`
      : `REVOKE CREATE ON SCHEMA ${schema} FROM ${grantee}`,
  )
  return warning(
    'creators',
    `${rows.map(({ role }) => role).join(', ')} may create in the schema ${first.schema} of the ` +
      'service, and so run code with the rights of the service',
    `run ${statements.join('; ')}`,
  )
}
