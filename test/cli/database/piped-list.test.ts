import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually } from '../../fixtures/eventually.ts'
import { createDatabase, removeDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { addAdaWithKeys } from '../ada.ts'
import { assertRefused } from '../command.ts'
import { programIn } from '../program.ts'
import { runInShell } from '../shell.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

for (const engine of ['SQLite', 'PostgreSQL'])
  test(`on ${engine}, a restore with a list from a pipe leaves a revoked key revoked`, async (t) => {
    const program = programIn(t)
    const [good, leaked] = await addAdaWithKeys(program, 2)
    await program.done(['backup', join(program.folder, 'archive')])
    await program.done(`key revoke --user ada@example.com ${leaked!.id}`)

    const fresh = join(program.folder, 'fresh.db')
    const url = engine === 'SQLite' ? `sqlite:${fresh}` : await createDatabase(server)
    if (engine === 'PostgreSQL') t.after(() => removeDatabase(server, url))
    const restore = (list: string) =>
      runInShell(program, `DATABASE_URL=${url} restore --yes archive --revocations ${list}`)
    assertRefused(await restore('<(cat none 2> /dev/null)'), 1, 'it lists no key', 'Leave')
    assert.equal(existsSync(fresh), false)
    const restored = await restore(`<(cat ${program.databasePath}-revoked)`)
    assert.equal(restored.code, 0, restored.stderr)
    assert.match(restored.stderr, /: 1 user, 0 servers, 2 active keys\. 1 key .* stayed revoked/)

    const { port } = await program.serve({ env: { DATABASE_URL: url } })
    const statusOf = async (key: string) => {
      const headers = { Authorization: `Bearer ${key}` }
      return (await fetch(`http://127.0.0.1:${port}/v1/servers`, { headers })).status
    }
    // For a second after a restore, PostgreSQL answers 502 to every known key.
    await eventually(async () => (await statusOf(good!.key)) === 200)
    assert.equal(await statusOf(leaked!.key), 401)
  })
