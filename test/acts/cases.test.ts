import { after, before, type TestContext, test } from 'node:test'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { type Carrier, functionsOn } from './carriers.ts'
import { play } from './play.ts'
import { openPostgresStage, type Stage } from './stage.ts'
import { casesOf, compare, type Lines, TABLES } from './table.ts'

/*
 * One table of cases: what the acts of a site answer and change, by each carrier on each engine.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('acts on PostgreSQL do what the cases record', async (t) => {
  const stage = await openPostgresStage(t, server)
  await playAll(t, stage, [await functionsOn(t, stage)])
})

async function playAll(t: TestContext, stage: Stage, carriers: readonly Carrier[]): Promise<void> {
  for (const table of TABLES)
    for (const carrier of carriers)
      await t.test(`${carrier.name}: ${table}`, async () => {
        const cases = casesOf(table)
        const lines: Lines[] = []
        for (const one of cases) lines.push(await play(stage, carrier, one))
        compare(cases, lines, carrier.hand)
      })
}
