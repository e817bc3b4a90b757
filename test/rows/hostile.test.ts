import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { migratePostgres } from '../../src/postgres/store.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { everyEntry } from '../records/catalogue.ts'
import { send } from '../records/requests.ts'
import { askedOn, openStage, type Stage } from '../records/stage.ts'
import { postgresTables } from '../reliability/fault-injection/tables.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { DATABASE_STORIES, openStory, type StoryDatabase } from '../records/story.ts'
import { watchNothing } from '../records/rows.ts'
import { isSuccess } from '../records/transcript.ts'
import { ACTS } from './acts.ts'
import { liveThrough } from './site.ts'

/*
 * Another role may own the database and create in a schema of the service's search path. PostgreSQL
 * prefers what fits the types exactly, wherever it stands in the path.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** Where our tables are, and where the other role plants: in `public` and in the role's schema. */
const PLACES = [
  { ours: 'own', planted: 'public', path: '"$user", public' },
  { ours: 'public', planted: 'own', path: '"$user", public' },
  // The owner of a database can give it any search path.
  { ours: 'own', planted: 'public', path: 'public, pg_catalog, "$user"' },
]

for (const [number, place] of PLACES.entries())
  test(`nothing that stands in the schema ${place.planted} is called, path ${place.path}`, async (t) => {
    const { clone, ours } = await openHostile(number, place)
    const life = await clone()
    await liveThrough(t, life.database, ACTS, ours)
    assert.deepEqual(await calledIn(life.copy), [])
    for (const name of ['setup', 'scene']) {
      const { copy, database } = await clone()
      const open = () => Promise.resolve(database)
      await askAll(await openStage(t, name, open, () => postgresTables(copy, ours)), name)
      assert.deepEqual(await calledIn(copy), [], name)
    }
    for (const story of DATABASE_STORIES) {
      const { copy, database } = await clone()
      const options = { schema: ours, watch: watchNothing }
      const { inputs, play } = await openStory(t, story, database, temporaryFolder(t), options)
      for (const input of inputs.filter(isSuccess)) await play(input)
      assert.deepEqual(await calledIn(copy), [], story)
    }
  })

/** Every page and form in test/records/requests. */
async function askAll(stage: Stage, name: string): Promise<void> {
  const { tables, dashboard } = stage
  const entries = everyEntry().filter(({ file }) => (file === 'setup') === (name === 'setup'))
  for (const { input, status } of entries) {
    await tables.restore()
    // Otherwise the token buckets make the people wait.
    dashboard.elapse(2_000)
    const asked = askedOn(stage, input.text)
    const answer = await send(stage.browserOf(asked.people[0]!), asked)
    assert.equal(answer.status, status, `${input.text}: ${answer.body}`)
  }
  await dashboard.close()
}

/** Copies of a database of a role of its own, in which another role has planted. */
async function openHostile(number: number, { ours, planted, path }: (typeof PLACES)[0]) {
  const role = `listing_${process.pid}_${number}`
  const nameOf = (schema: string) => (schema === 'own' ? role : schema)
  const url = await createDatabase(server)
  await asAdmin(url, (admin) =>
    admin.query(`
      CREATE ROLE ${role}_group;
      CREATE ROLE ${role} LOGIN PASSWORD 'secret' IN ROLE ${role}_group;
      CREATE SCHEMA ${nameOf('own')};
      GRANT CREATE, USAGE ON SCHEMA ${nameOf(ours)} TO ${role};
      ALTER ROLE ${role} SET search_path = ${path}`),
  )
  const own = url.replace('postgres:secret', `${role}:secret`)
  await migratePostgres(`${own}?options=-csearch_path%3D${nameOf(ours)}`)
  await asAdmin(url, async (admin) => {
    await plant(admin, nameOf(ours), nameOf(planted))
    await admin.query(`ALTER VIEW ${nameOf(planted)}.schema_migrations OWNER TO ${role}_group`)
  })
  const [, template] = /\/(\w+)$/.exec(url)!
  async function clone() {
    const copy = await createDatabase(server, `TEMPLATE ${template}`)
    const database = { engine: 'postgres', url: copy.replace('postgres:secret', `${role}:secret`) }
    return { copy, database: database as StoryDatabase }
  }
  return { clone, ours: nameOf(ours) }
}

/**
 * Plants what fits our own SQL better than PostgreSQL's functions and operators do: each with our
 * domains in place of their base types. Also functions, tables and types with the names of ours.
 * Each counts its calls by our sessions, and then does what the original does.
 */
async function plant(admin: pg.Client, ours: string, hostile: string): Promise<void> {
  await admin.query(`
    CREATE SCHEMA calls;
    CREATE TABLE calls.names (name text);
    CREATE SEQUENCE calls.count;
    GRANT USAGE ON SCHEMA calls, ${hostile} TO PUBLIC;
    GRANT SELECT, INSERT ON calls.names TO PUBLIC;
    GRANT USAGE ON SEQUENCE calls.count TO PUBLIC;
    CREATE FUNCTION calls.note(name text) RETURNS boolean LANGUAGE plpgsql
      SET search_path = pg_catalog AS $$
    BEGIN
      IF current_setting('application_name') = 'server-listing' THEN
        INSERT INTO calls.names VALUES (name);
        PERFORM nextval('calls.count');
      END IF;
      RETURN true;
    END $$`)
  const { rows } = await admin.query<{ sql: string }>(PLANTED, [ours, hostile])
  // Each version of PostgreSQL has other functions: 15 gives 992.
  assert.ok(rows.length > 900, `only ${rows.length} planted`)
  await admin.query(rows.map(({ sql }) => sql).join(';\n'))
}

/** The statements that plant, for our schema $1 and the hostile schema $2. */
const PLANTED = `
  WITH domain AS (
    SELECT oid, typname, typbasetype FROM pg_type
    WHERE typnamespace = $1::regnamespace AND typtype = 'd'
  ), called AS (
    SELECT proname, prorettype, proargtypes, NULL AS operator FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset
      AND provariadic = 0 AND prolang <> (SELECT oid FROM pg_language WHERE lanname = 'sql')
    UNION ALL
    SELECT proname, prorettype, proargtypes, oprname FROM pg_operator
    JOIN pg_proc ON pg_proc.oid = oprcode
    WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprleft <> 0
  ), argument AS (
    SELECT called.*, domain.typname AS ours, replaced.place AS replaced, (
      SELECT string_agg(
        CASE WHEN position = replaced.place OR replaced.place = 0 AND type = typbasetype
          THEN domain.oid ELSE type END::regtype::text, ', ' ORDER BY position)
      FROM unnest(proargtypes) WITH ORDINALITY AS each (type, position)
    ) AS types, (
      SELECT string_agg(format('$%s::%s', position, type::regtype), ', ' ORDER BY position)
      FROM unnest(proargtypes) WITH ORDINALITY AS each (type, position)
    ) AS given
    FROM called CROSS JOIN domain CROSS JOIN generate_series(0, cardinality(proargtypes)) AS replaced (place)
    WHERE typbasetype = ANY (proargtypes) AND cardinality(proargtypes) <= 3
      AND (replaced.place = 0 OR proargtypes[replaced.place - 1] = typbasetype)
      AND NOT EXISTS (SELECT FROM pg_type WHERE typtype = 'p'
        AND (pg_type.oid = ANY (proargtypes) OR pg_type.oid = prorettype))
  ), replacing AS (
    SELECT DISTINCT ON (proname, types) * FROM argument
  )
  SELECT format(
    'CREATE FUNCTION %1$I.%2$I(%3$s) RETURNS %4$s LANGUAGE plpgsql SET search_path = pg_catalog AS %5$L',
    $2::text, proname, types, prorettype::regtype,
    format('BEGIN PERFORM calls.note(%L); RETURN pg_catalog.%I(%s); END', proname || '(' || types || ')', proname, given)
  ) AS sql FROM replacing
  UNION ALL
  SELECT DISTINCT format('CREATE OPERATOR %1$I.%2$s (LEFTARG = %3$s, RIGHTARG = %4$s, FUNCTION = %1$I.%5$I)',
    $2::text, operator, split_part(types, ', ', 1), split_part(types, ', ', 2), proname)
  FROM argument WHERE operator IS NOT NULL
  UNION ALL
  SELECT format('CREATE VIEW %1$I.%2$I AS SELECT * FROM %3$I.%2$I WHERE calls.note(%2$L)', $2::text, relname, $1::text)
  FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'v')
  UNION ALL
  SELECT format('CREATE DOMAIN %1$I.%2$I AS %3$s CHECK (calls.note(%2$L))', $2::text, typname, typbasetype::regtype)
  FROM domain
  UNION ALL
  SELECT format(
    'CREATE FUNCTION %I.%I(%s) RETURNS void LANGUAGE plpgsql AS %L',
    $2::text, proname, pg_get_function_arguments(oid), format('BEGIN PERFORM calls.note(%L); END', proname)
  ) FROM pg_proc WHERE pronamespace = $1::regnamespace AND prorettype <> 'trigger'::regtype
`

/** The names that were called; a number if a transaction that called one was rolled back. */
async function calledIn(url: string): Promise<string[]> {
  return asAdmin(url, async (admin) => {
    const { rows } = await admin.query<{ name: string }>('SELECT DISTINCT name FROM calls.names')
    const { rows: counts } = await admin.query<{ is_called: boolean }>(
      'SELECT is_called FROM calls.count',
    )
    const names = rows.map(({ name }) => name)
    return names.length === 0 && counts[0]!.is_called ? ['rolled back'] : names
  })
}
