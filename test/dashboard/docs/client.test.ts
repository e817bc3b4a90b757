import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { clientTarball } from '../../../scripts/package/client.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'

/*
 * The npm package of the client on the dashboard. `test/operations/client/` installs it with npm.
 */

const PATH = '/docs/server-listing-client.tgz'

test('everyone gets the client, and always the same bytes', async (t) => {
  const { url } = await startDashboard(t)
  const answers = await Promise.all([fetch(url + PATH), fetch(url + PATH)])
  const bodies = await Promise.all(
    answers.map(async (each) => Buffer.from(await each.arrayBuffer())),
  )
  for (const { status, headers } of answers)
    assert.deepEqual([status, headers.get('Content-Type')], [200, 'application/gzip'])
  for (const body of bodies) assert.ok(body.equals(await clientTarball()))
  assert.ok(bodies[0]!.length < 30_000, `${bodies[0]!.length} bytes`)
  const head = await fetch(url + PATH, { method: 'HEAD' })
  assert.deepEqual([head.status, await head.text()], [200, ''])
})

test('require and import load the same client from it, which reads a listing', async (t) => {
  const { url, apiPort, store } = await startDashboard(t)
  const entry = { name: 'Survival', address: 'play.example.com' }
  const { key } = await addOwner(store, 'ada@example.com', [entry])
  const folder = temporaryFolder(t)
  const tarball = Buffer.from(await (await fetch(url + PATH)).arrayBuffer())
  for (const [path, content] of filesIn(gunzipSync(tarball))) {
    const target = join(folder, path.replace(/^package/, 'node_modules/server-listing-client'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, content)
  }

  const { ServerListingClient } = createRequire(join(folder, 'program.cjs'))(
    'server-listing-client',
  )
  const program = join(folder, 'program.mjs')
  writeFileSync(program, "export { ServerListingClient as default } from 'server-listing-client'\n")
  assert.equal((await import(program)).default, ServerListingClient)
  const client = new ServerListingClient({ baseUrl: `http://127.0.0.1:${apiPort}`, apiKey: key })
  const [server] = await client.listServers()
  assert.equal(server.address, 'play.example.com')
})

/** The files of a tar archive, by their paths. */
function filesIn(archive: Buffer): [path: string, content: Buffer][] {
  const files: [string, Buffer][] = []
  for (let at = 0; archive[at] !== 0; ) {
    const text = (from: number, bytes: number) =>
      archive.toString('latin1', at + from, at + from + bytes).replace(/\0.*/s, '')
    const bytes = Number.parseInt(text(124, 12), 8)
    files.push([text(0, 100), archive.subarray(at + 512, at + 512 + bytes)])
    at += 512 + Math.ceil(bytes / 512) * 512
  }
  return files
}
