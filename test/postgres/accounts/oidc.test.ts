import { after, before } from 'node:test'
import { oidcSuites } from '../../accounts/oidc/suites.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'

let server: Server

before(async () => {
  server = await openServer()
})
after(() => server.remove())

oidcSuites('postgres', async () => ({
  engine: 'postgres',
  url: await createMigratedDatabase(server),
}))
