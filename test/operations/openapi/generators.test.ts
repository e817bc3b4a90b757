import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { operatorAt } from '../../../src/model/audit.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { ROOT } from '../../fixtures/tree.ts'

/*
 * Generators make clients from the openapi.json that the dashboard serves, and the clients read the
 * API. `npm ci --prefix test/operations/openapi/generators` installs the generators.
 */

const TOOLS = join(ROOT, 'test/operations/openapi/generators/node_modules')
const run = promisify(execFile)

/** Leaves out what no client calls, by its tag. */
const CONFIG = `export default {
  hooks: { onCreateRoute: (route) => (route.raw.tags.includes('Internal') ? false : route) },
}
`

/** The second client has no address but the one in the document. */
const PROGRAM = `import createClient from 'openapi-fetch'
import type { paths } from './schema.js'
import { Api } from './swagger.js'

declare const process: { env: Record<string, string> }
const headers = { Authorization: \`Bearer \${process.env.SERVER_LISTING_KEY}\` }

const fetching = createClient<paths>({ baseUrl: process.env.BASE_URL! })
const { data, response } = await fetching.GET('/v1/servers', { headers })
const first: { name: string; version: string | null } = data!.servers[0]!
console.log(response.status, first.name)

const { error } = await fetching.GET('/v1/servers', { headers })
if (error !== undefined && 'limit' in error) console.log(error.limit)
await new Promise((resolve) => setTimeout(resolve, 1_100))

const api = new Api({ securityWorker: () => ({ headers }) })
const answer = await api.v1.listServers()
const name: string = answer.data.servers[0]!.name
console.log(answer.status, name)
console.log(Object.keys(api).filter((each) => ['v1', 'health', 'path'].includes(each)).join())
`

test('clients that openapi-typescript and swagger-typescript-api make read the servers', async (t) => {
  const { signedIn, visitor, store, apiPort } = await startDashboard(t, { baseUrl: null })
  const { person, user } = await signedIn()
  await recordsOf(store).saveServers(
    user.id,
    null,
    [{ name: 'Survival', address: 'play.example.com' }],
    operatorAt(1),
  )
  const key = await person.issue('generated client')

  const folder = temporaryFolder(t)
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  symlinkSync(TOOLS, join(folder, 'node_modules'))
  write('package.json', '{"type":"module"}')
  write('openapi.json', (await visitor().get('/docs/openapi.json')).body)
  write('config.mjs', CONFIG)
  write('program.ts', PROGRAM)
  const node = async (args: string[], env: Record<string, string> = {}) =>
    (await run(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } })).stdout

  await Promise.all([
    node([join(TOOLS, 'openapi-typescript/bin/cli.js'), 'openapi.json', '-o', 'schema.ts']),
    node([
      join(TOOLS, 'swagger-typescript-api/dist/cli.mjs'),
      'generate',
      '-p',
      'openapi.json',
      '-o',
      '.',
      '-n',
      'swagger.ts',
      '--custom-config',
      join(folder, 'config.mjs'),
    ]),
  ])
  assert.doesNotMatch(readFileSync(join(folder, 'swagger.ts'), 'utf8'), /preflight|unknownPath/i)
  const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--skipLibCheck']
  await node([join(TOOLS, 'typescript/bin/tsc'), ...options, 'program.ts']).catch(
    (error: unknown) => assert.fail(String((error as { stdout?: string }).stdout)),
  )
  const env = { SERVER_LISTING_KEY: key, BASE_URL: `http://127.0.0.1:${apiPort}` }
  assert.equal(await node(['program.js'], env), '200 Survival\n1 rps\n200 Survival\nv1,health\n')
})
