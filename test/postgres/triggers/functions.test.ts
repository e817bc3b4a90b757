import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const STATEMENTS: Record<string, string> = {
  INSERT: 'INSERT INTO foreign_rows DEFAULT VALUES',
  UPDATE: 'UPDATE foreign_rows SET updated = true',
  DELETE: 'DELETE FROM foreign_rows',
  TRUNCATE: 'TRUNCATE foreign_rows',
}

test('every function runs as its owner, in our schema, and no other role may execute it', async () => {
  const url = await createMigratedDatabase(server)
  await asAdmin(url, async (client) => {
    const { rows } = await client.query<Record<string, string | boolean>>(`
      SELECT proname AS name, prosecdef AS is_definer, coalesce(array_to_string(proconfig, ';'), '') AS config,
        has_function_privilege('public', oid, 'EXECUTE') AS is_public,
        prorettype = 'trigger'::regtype AS is_trigger
      FROM pg_proc WHERE pronamespace = current_schema()::regnamespace`)
    assert.ok(rows.length > 10)
    for (const { name, is_definer, config, is_public, is_trigger } of rows) {
      assert.equal(is_public, false, `${name} is public`)
      if (is_trigger !== true) continue
      assert.equal(is_definer, true, `${name} runs as the writer`)
      assert.match(String(config), /^search_path=public, pg_temp/, `${name} has no search_path`)
    }
  })
})

test('a trigger function refuses every table but its own', async () => {
  const url = await createMigratedDatabase(server)
  await asAdmin(url, async (client) => {
    const { rows } = await client.query<{ definition: string; name: string; table: string }>(`
      SELECT pg_get_triggerdef(pg_trigger.oid) AS definition, tgname AS name, tgrelid::regclass::text AS table
      FROM pg_trigger WHERE NOT tgisinternal`)
    assert.ok(rows.length > 10)
    for (const { definition, name, table } of rows) {
      await client.query('BEGIN')
      await client.query(
        `CREATE TABLE foreign_rows AS SELECT *, false AS updated FROM ${table}; INSERT INTO foreign_rows DEFAULT VALUES`,
      )
      // Without its condition and its mode, so that every statement fires it.
      const attached = definition
        .replace(` ON public.${table} `, ' ON foreign_rows ')
        .replace(/ UPDATE OF [\w, ]+ ON /, ' UPDATE ON ')
        .replace(/ WHEN \(.*\) EXECUTE /, ' EXECUTE ')
      await client.query(attached)
      const [event] = /\b(?:INSERT|UPDATE|DELETE|TRUNCATE)\b/.exec(attached)!
      await assert.rejects(
        client.query(STATEMENTS[event]!),
        { message: `only ${table} has this trigger` },
        name,
      )
      await client.query('ROLLBACK')
    }
  })
})
