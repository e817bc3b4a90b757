import pg from 'pg'
import { formatInstant, INSTANT_MAX } from '../model/instant.ts'
import type {
  Database,
  GivenColumns,
  LockStrength,
  Queries,
  Transaction,
} from '../database/database.ts'
import { at, isTyped, raw, type Sql, sql, type TypedValue, type Value } from '../database/sql.ts'
import type { Database as Connections } from './database.ts'

const UNIQUE_VIOLATION = '23505'
const INT8: number = pg.types.builtins.INT8

const LOCKS: Record<LockStrength, string> = {
  change: 'FOR NO KEY UPDATE',
  remove: 'FOR UPDATE',
  keep: 'FOR KEY SHARE',
}

const INSTANTS_OF_KEYS = ['created_at', 'revoked_at', 'last_used_at'].map(instantOf).join(', ')

/** Lends the pool's connections to the control plane. */
export function managementConnection(connections: Connections): Database {
  return {
    ...queriesOf((query) => connections.lend((client) => client.query(query))),
    transact: (body) => connections.transact((client) => body(transactionOn(client))),
    snapshot: (body) =>
      connections.transact(async (client) => {
        await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
        return body(queriesOf((query) => client.query(query)))
      }),
    readParts: (query, rowsMax, onRows) =>
      connections.transact(async (client) => {
        const { text, ...given } = statementOf(query)
        await client.query({ text: `DECLARE parts NO SCROLL CURSOR FOR ${text}`, ...given })
        for (;;) {
          const fetch = { text: `FETCH ${rowsMax} FROM parts`, types: TYPES }
          const { rows } = await client.query(fetch)
          if (rows.length > 0) onRows(rows)
          if (rows.length < rowsMax) return
        }
      }),
    dialect: {
      instant: (column) => raw(instantOf(column)),
      selectApiKeys: (where) => sql`
        SELECT id, user_id, name, prefix, ${raw(INSTANTS_OF_KEYS)} FROM api_keys WHERE ${where}`,
      recordLastUses: ({ column, from }) => sql`
        UPDATE api_keys SET last_used_at = greatest(api_keys.last_used_at, ${column('last_used_at')})
        ${from} WHERE api_keys.id = ${column('id')}`,
      recentApiKeys: (keysMax) => sql`
        SELECT id FROM api_keys WHERE last_used_at IS NOT NULL
        ORDER BY last_used_at DESC LIMIT ${keysMax}`,
      idleApiKeys: (since) => sql`
        SELECT id AS place, id, coalesce(last_used_at, created_at) AS idle_since FROM api_keys
        WHERE revoked_at IS NULL AND disabled_at IS NULL
          AND coalesce(last_used_at, created_at) < ${at(since)}`,
      keyPlace: raw('id'),
      firstKeyPlace: '00000000-0000-0000-0000-000000000000',
      auditOrder: {
        column: 'xid',
        type: 'xid8',
        settled: sql`xid < pg_snapshot_xmin(pg_current_snapshot())`,
        foreign: sql`xid >= pg_snapshot_xmax(pg_current_snapshot())`,
      },
      databaseFacts: sql`
        SELECT 'PostgreSQL' AS engine, current_setting('server_version') AS version,
          pg_database_size(current_database()) AS bytes`,
      byBytes: sql`COLLATE "C"`,
      skipLocked: sql`FOR UPDATE SKIP LOCKED`,
      isTaken: (error) => (error as { code?: unknown }).code === UNIQUE_VIOLATION,
    },
  }
}

function transactionOn(client: pg.ClientBase): Transaction {
  return {
    ...queriesOf((query) => client.query(query)),

    async lock(table, ids, strength = 'change') {
      await client.query(
        `SELECT FROM ${table} WHERE id = ANY ($1::uuid[]) ORDER BY id ${LOCKS[strength]}`,
        [ids.filter(isUuid)],
      )
    },

    async runGiven(columns, rows, statement) {
      const from = sql`FROM ${givenRows(columns, rows)}`
      const { rowCount } = await client.query(
        statementOf(
          statement({
            column: (name) => raw(`given.${name}`),
            rowsOf: (values) => sql`SELECT ${values} ${from}`,
            from,
          }),
        ),
      )
      return rowCount ?? 0
    },

    async lockNames(names) {
      const { rows } = await client.query(
        `WITH wanted AS (SELECT DISTINCT ${NUMBER_OF_NAME} AS number FROM unnest($1::text[]) AS names (name)),
         held AS (SELECT FROM name_locks WHERE number IN (TABLE wanted) ORDER BY number FOR UPDATE)
         SELECT (SELECT count(*) FROM held) = (SELECT count(*) FROM wanted) AS is_held`,
        [names],
      )
      if (rows[0].is_held) return
      throw new Error(
        'the table name_locks has lost rows. Run as its owner: ' +
          'INSERT INTO name_locks SELECT generate_series(0, 1024) ON CONFLICT DO NOTHING',
      )
    },
  }
}

/** A document holds its name for seconds, so that it shares no row. */
const NUMBER_OF_NAME = `CASE name WHEN 'apply' THEN 1024 ELSE hashtextextended(name, 0) & 1023 END`

function queriesOf(send: (query: pg.QueryConfig) => Promise<pg.QueryResult>): Queries {
  const ask = (query: Sql) => send(statementOf(query))
  return {
    all: async <Row>(query: Sql) => (await ask(query)).rows as Row[],
    get: async <Row>(query: Sql) => ((await ask(query)).rows[0] as Row | undefined) ?? null,
    run: async (query) => (await ask(query)).rowCount ?? 0,
  }
}

function statementOf({ texts, values }: Sql): pg.QueryConfig {
  const text = texts.reduce(
    (before, after, index) => before + placeholder(values[index - 1]!, index) + after,
  )
  return { text, values: values.map(parameterOf), types: TYPES }
}

const CASTS: Record<TypedValue['type'], (parameter: string) => string> = {
  instant: (parameter) => `${parameter}::timestamptz`,
  uuid: (parameter) => `${parameter}::uuid`,
  // Unlike IN with a subquery, an index serves it on each side of an OR.
  uuids: (parameter) => `= ANY (${parameter}::uuid[])`,
  strings: (parameter) => `= ANY (${parameter}::text[])`,
  bytes: (parameter) => `= ANY (${parameter}::bytea[])`,
}

function placeholder(value: Value, number: number): string {
  return isTyped(value) ? CASTS[value.type](`$${number}`) : `$${number}`
}

function parameterOf(value: Value): unknown {
  if (!isTyped(value)) return value
  if (value.type === 'instant') return formatInstant(value.value)
  if (value.type === 'uuid') return isUuid(value.value) ? value.value : null
  return value.type === 'uuids' ? value.value.filter(isUuid) : value.value
}

/** As the server writes it: any other spelling is an id on no engine. */
function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}

/** The driver reads int8 as text. Ours are counts and instants, which a number holds. */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** SQL for an instant as a number of microseconds, under the name of its column. */
export function instantOf(column: string): string {
  const [first, last] = [-INSTANT_MAX, INSTANT_MAX].map(
    (instant) => `timestamptz '${formatInstant(instant)}'`,
  )
  return `CASE WHEN ${column} < ${first} THEN -${INSTANT_MAX} WHEN ${column} > ${last} THEN ${INSTANT_MAX}
    ELSE (extract(epoch FROM ${column}) * 1000000)::bigint END AS ${column.split('.').at(-1)}`
}

const TYPE_OF_GIVEN = {
  uuid: 'uuid',
  text: 'text',
  integer: 'integer',
  instant: 'timestamptz',
  bytes: 'bytea',
}

function givenRows(columns: GivenColumns, rows: readonly object[]): Sql {
  return sql`json_to_recordset(${jsonOf(columns, rows)}::json) AS given (${raw(typesOf(columns))})`
}

/** The columns of the rows that `jsonOf` writes, with their types. */
export function typesOf(columns: GivenColumns): string {
  return Object.entries(columns)
    .map(([name, kind]) => `${name} ${TYPE_OF_GIVEN[kind]}`)
    .join(', ')
}

export function jsonOf(columns: GivenColumns, rows: readonly object[]): string {
  return JSON.stringify(rows, (name, value) => {
    if (value === null) return null
    if (columns[name] === 'instant') return formatInstant(value as number)
    if (columns[name] === 'bytes') return `\\x${Buffer.from(value as Uint8Array).toString('hex')}`
    return value
  })
}
