import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { programIn } from '../cli/program.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { shellEnvironment } from '../operations/guide/shim.ts'
import { openTerminal } from '../operations/guide/terminal.ts'
import { live } from './acts.ts'
import { buildSite, serveSite } from './toy-site.ts'

/*
 * The commands of docs/site.md, typed by a reader.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('the page leads from an empty PostgreSQL to a served site', async (t) => {
  const { folder } = programIn(t)
  const scratch = temporaryFolder(t)
  const terminal = openTerminal({ folder, scratch, env: shellEnvironment(scratch), user: {} })
  t.after(terminal.close)
  const site = await buildSite(t, server, {
    async shell(commands, url, at) {
      // elsewhere.test.ts types the others.
      if (!commands.includes('postgres://')) return
      const { isDone, output } = await terminal.run(commands.replace(/postgres:\/\/\S+/, url))
      assert.ok(isDone, `${at} failed:\n${commands}\nIt printed:\n${output}`)
    },
  })
  await live(site, await serveSite(t, site), 'ada@example.com')
})
