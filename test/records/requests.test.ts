import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type { DatabaseConfig } from '../../src/config/database-url.ts'
import { everyRoute } from '../dashboard/every-route.ts'
import { type OpenDatabase, sqliteDatabase } from '../fixtures/dashboard.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { watchRows } from '../rows/watch.ts'
import { everyEntry, FILES } from './catalogue.ts'
import { playOthers } from './others.ts'
import { type Played, type Player, playRequests } from './play.ts'
import { openStage } from './stage.ts'
import { compare, type Play, readTranscript } from './transcript.ts'

/*
 * What every route of the dashboard answers and changes, on both engines. The records are in
 * requests/, and test/README.md describes them.
 */

/** Making the client takes long. */
const UNRECORDED = /^\/docs\/server-listing-client\.tgz$/

/** What a second form changes by its purpose. */
const TWICE: Record<string, string[]> = {
  // Each answer needs a session of its own. The account page lists both.
  '/sign-in': ['sessions', 'audit_log'],
  // Only the link of the last answer works.
  '/dashboard/operator/users/:id/link': ['sign_in_links', 'audit_log'],
}

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

for (const file of FILES)
  test(`pages do what ${basename(file)} records`, async (t) => {
    // What others get is decided by the pages, so one engine is enough.
    const found = new Map<string, string[]>()
    const engines = new Map([
      ['sqlite', await playOn(t, file, sqliteDatabase, keep)],
      ['postgres', await playOn(t, file, migratedDatabase, async (_, text) => found.get(text)!)],
    ])
    await compare(file, engines)

    async function keep(player: Player, text: string, first: Played): Promise<string[]> {
      const lines = await playOthers(player, text, first)
      found.set(text, lines)
      return lines
    }
  })

test('every route of the dashboard has a record of a success', () => {
  const taken = everyEntry().map(({ route }) => route.method + route.path)
  const missing = everyRoute().filter(
    ({ method, path }) => !taken.includes(method + path) && !UNRECORDED.test(path),
  )
  assert.deepEqual(missing, [])
})

test('a form that is sent twice changes the records once', () => {
  for (const { route, input, rowsAgain } of everyEntry()) {
    const allowed = TWICE[route.path] ?? []
    const others = rowsAgain.filter((row) => !allowed.includes(/\w+(?= [-+~] )/.exec(row)![0]))
    assert.deepEqual(others, [], input.text)
  }
})

async function playOn(
  t: TestContext,
  file: string,
  open: OpenDatabase,
  others: typeof playOthers,
): Promise<Play> {
  const stage = await openStage(t, basename(file, '.txt'), open)
  const watch = await watchRows(t, stage.database, stage.rowNames)
  return playRequests(stage, watch, readTranscript(file), others)
}

/** Migrated before the service starts, because a busy server may take too long for the service. */
async function migratedDatabase(): Promise<DatabaseConfig> {
  return { engine: 'postgres', url: await createMigratedDatabase(server) }
}
