import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { functionsOn } from './carriers.ts'
import { assertSays, everyMistake, missingFields } from './mistakes.ts'
import { openPostgresStage } from './stage.ts'

/*
 * A mistake of a program is an error that names the place. It changes nothing, although a good row
 * stands before it.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a function names each mistake of a site, and changes nothing', async (t) => {
  const stage = await openPostgresStage(t, server)
  const carrier = await functionsOn(t, stage)
  const [, rows] = await stage.during(carrier.address, async () => {
    for (const mistake of [...everyMistake(), ...missingFields()])
      assertSays(mistake, await carrier.send(mistake.document))
  })
  assert.deepEqual(rows, [])
})
