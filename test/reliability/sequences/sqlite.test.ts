import { after, before, test } from 'node:test'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { postgresPlace, sqlitePlace } from './places.ts'
import { ALL_MS, runSequences } from './sequence.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('SQLite: no sequence of acts loses, revives or revokes a key', {
  timeout: ALL_MS,
}, async (t) => {
  await runSequences(t, async () => [await sqlitePlace(t), await postgresPlace(server)])
})
