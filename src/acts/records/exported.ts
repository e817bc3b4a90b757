import type { NamedUser } from '../../accounts/user.ts'
import type { Dialect, Queries } from '../../database/database.ts'
import { inUuids, type Sql, sql, uuid } from '../../database/sql.ts'
import type { ApiKey } from '../../keys/api-key.ts'
import { formatNullable, type Instant } from '../../model/instant.ts'
import type { Organization, Role } from '../../organizations/organization.ts'
import { valuesOf } from '../../servers/fields.ts'
import { columnsOf, fieldsOf, type RegisteredRow } from '../../servers/records/server-rows.ts'
import type { ActName } from '../document.ts'

/** Rows per query of an export. The transaction is idle while their text is made. */
const PAGE_ROWS = 200
/** Less than any id. */
const FIRST = '00000000-0000-0000-0000-000000000000'

/** The names of the user whose id is in a column. */
const namesOf = (column: Sql): Sql => sql`
  (SELECT external_id FROM users WHERE users.id = ${column}) AS external_id,
  (SELECT email FROM users WHERE users.id = ${column}) AS email`

interface Names {
  user_id: string
  external_id: string | null
  email: string | null
}

const naming = ({ user_id, external_id, email }: Names): object =>
  external_id !== null ? { external_id } : email !== null ? { email } : { user_id }

const SLUG = sql`(SELECT slug FROM organizations WHERE organizations.id = organization_id)`

/** The row with its instants as texts. */
const inTexts = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      name.endsWith('_at') ? formatNullable(value as Instant | null) : value,
    ]),
  )

/** Hands over all rows of a file, act by act in the order of their ids. */
export async function readAll(
  queries: Queries,
  dialect: Dialect,
  onRows: (act: ActName, rows: object[]) => void,
): Promise<void> {
  const { instant } = dialect
  const users = sql`id, external_id, email, ${instant('created_at')}, ${instant('disabled_at')},
    ${instant('banned_at')} FROM users`
  for await (const page of pagesOf(queries, users)) onRows('put_users', page.map(inTexts))
  for await (const page of pagesOf<Organization>(queries, sql`id, slug, name FROM organizations`))
    await exportOrganizations(queries, dialect, page, onRows)
  const servers = sql`${columnsOf(dialect)}, ${SLUG} AS organization,
    created_by AS user_id, ${namesOf(sql`created_by`)} FROM servers`
  for await (const page of pagesOf<RegisteredRow & Names & { organization: string | null }>(
    queries,
    servers,
  ))
    onRows(
      'put_servers',
      page.map((row) => ({
        id: row.id,
        ...naming(row),
        ...valuesOf(fieldsOf(row)),
        organization: row.organization,
        ...inTexts({ updated_at: row.updated_at }),
      })),
    )
  const keys = sql`id, key_hash, user_id, ${namesOf(sql`user_id`)} FROM api_keys`
  for await (const page of pagesOf<Names & { id: string; key_hash: Uint8Array }>(queries, keys)) {
    const found = await queries.all<ApiKey>(
      dialect.selectApiKeys(sql`id ${inUuids(page.map(({ id }) => id))}`),
    )
    const byId = new Map(found.map((key) => [key.id, key]))
    onRows(
      'put_keys',
      page.map((row) => {
        const { user_id: _user, ...key } = byId.get(row.id)!
        const key_hash = Buffer.from(row.key_hash).toString('hex')
        return { id: row.id, ...naming(row), ...inTexts(key), key_hash }
      }),
    )
  }
}

/** Each with its oldest owner, and then the members. */
async function exportOrganizations(
  queries: Queries,
  { instant }: Dialect,
  page: readonly Organization[],
  onRows: (act: ActName, rows: object[]) => void,
): Promise<void> {
  const members = await queries.all<
    Names & { organization_id: string; slug: string; role: Role; joined_at: Instant }
  >(sql`
    SELECT organization_id, ${SLUG} AS slug, role, ${instant('joined_at')}, user_id,
      ${namesOf(sql`user_id`)} FROM members
    WHERE organization_id ${inUuids(page.map(({ id }) => id))} ORDER BY organization_id, user_id`)
  const oldestFirst = members
    .filter(({ role }) => role === 'owner')
    .toSorted((one, other) => one.joined_at - other.joined_at)
  onRows(
    'put_organizations',
    page.map(({ id, slug, name }) => {
      const owner = oldestFirst.find((one) => one.organization_id === id)
      return { id, slug, name, ...(owner && naming(owner)) }
    }),
  )
  onRows(
    'put_members',
    members.map((member) => {
      const { slug, role, joined_at } = member
      return { slug, ...naming(member), role, ...inTexts({ joined_at }) }
    }),
  )
}

async function* pagesOf<Row extends Pick<NamedUser, 'id'>>(
  queries: Queries,
  select: Sql,
): AsyncGenerator<Row[]> {
  let last = FIRST
  for (;;) {
    const rows = await queries.all<Row>(
      sql`SELECT ${select} WHERE id > ${uuid(last)} ORDER BY id LIMIT ${PAGE_ROWS}`,
    )
    if (rows.length > 0) yield rows
    if (rows.length < PAGE_ROWS) return
    last = rows.at(-1)!.id
  }
}
