import { after, before, type TestContext, test } from 'node:test'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { type Carrier, fileOn, functionsOn } from './carriers.ts'
import { httpOn } from './http-carrier.ts'
import { play } from './play.ts'
import { openPostgresStage, openSqliteStage, type Stage } from './stage.ts'
import { casesOf, compare, type Hand, type Lines, record, TABLES } from './table.ts'

/*
 * One table of cases: what the acts of a site answer and change, by each carrier on each engine.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('acts on SQLite do what the cases record', async (t) => {
  const stage = await openSqliteStage(t)
  const carriers = [await httpOn(t, stage), fileOn(stage)]
  const played = await playAll(t, stage, carriers)
  if (process.env.RECORD === '1')
    for (const [table, lines] of played) record(table, lines.get('site')!, lines.get('file')!)
})

test('acts on PostgreSQL do what the cases record', async (t) => {
  const stage = await openPostgresStage(t, server)
  await playAll(t, stage, [await functionsOn(t, stage), await httpOn(t, stage), fileOn(stage)])
})

async function playAll(
  t: TestContext,
  stage: Stage,
  carriers: readonly Carrier[],
): Promise<Map<string, Map<Hand, Lines[]>>> {
  const played = new Map<string, Map<Hand, Lines[]>>()
  for (const table of TABLES) {
    const found = new Map<Hand, Lines[]>()
    for (const carrier of carriers)
      await t.test(`${carrier.name}: ${table}`, async () => {
        const cases = casesOf(table)
        const lines: Lines[] = []
        for (const one of cases) lines.push(await play(stage, carrier, one))
        found.set(carrier.hand, lines)
        if (process.env.RECORD !== '1') compare(cases, lines, carrier.hand)
      })
    played.set(table, found)
  }
  return played
}
