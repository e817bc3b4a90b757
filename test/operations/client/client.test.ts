import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { installNode26 } from '../../../scripts/check-node26.ts'
import { startOddService } from '../../client/odd-service.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { addOwner, startTestService } from '../../fixtures/service.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { type InstalledClient, installClient } from './installed-client.ts'
import { answerOddly, EXPECTED } from './odd-answers.ts'
import { runReadme } from './readme.ts'
import { startWorker } from './worker.ts'

/*
 * The packed client, installed in an empty folder: in each runtime, by the code of its README, and
 * under the eyes of publint and Are The Types Wrong.
 */

const run = promisify(execFile)
const TOOLS = join(import.meta.dirname, 'node_modules')

const RUNTIMES: Record<string, () => string> = {
  'Node.js 20': () => join(TOOLS, 'node20/bin/node'),
  'Node.js 22': () => join(TOOLS, 'node22/bin/node'),
  'Node.js 24': () => process.execPath,
  'Node.js 26': installNode26,
  Bun: () => join(TOOLS, '.bin/bun'),
}

let installed: InstalledClient

before(async () => {
  installed = await installClient()
})

after(() => installed.remove())

// They wait for most of their time.
suite('each runtime', { concurrency: 3 }, () => {
  for (const [name, binary] of Object.entries(RUNTIMES))
    test(`on ${name} the packed client lists, watches, and names each failure`, async (t) => {
      const given = await startServices(t)
      const program = join(installed.folder, 'program-main.mjs')
      const { stdout } = await run(binary(), [program, JSON.stringify(given)])
      assertOutcomes(JSON.parse(stdout))
    })

  test("in Cloudflare's workers the packed client does the same, also for requests at once", async (t) => {
    const given = await startServices(t)
    const worker = await startWorker(t, installed.folder, 'worker-main.mjs')
    const body = JSON.stringify(given)
    const ask = async (path: string) => {
      const response = await fetch(worker + path, { method: 'POST', body })
      assert.equal(response.status, 200, await response.clone().text())
      return response.json()
    }
    assertOutcomes(await ask('/cases'))
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('/list')))
    for (const servers of answers) assert.equal((servers as unknown[]).length, 1)
  })
})

test('each block of code in the README does what it says', async (t) => {
  await runReadme(installed.folder, await startServices(t))
})

test('publint finds nothing in the package', async () => {
  const { stdout } = await run(join(TOOLS, '.bin/publint'), ['--strict', installed.tarball])
  assert.match(stdout, /All good!/)
})

test('its types resolve for each kind of import', async () => {
  const { stdout } = await run(join(TOOLS, '.bin/attw'), [installed.tarball, '--format', 'json'])
  assert.deepEqual(JSON.parse(stdout).problems, {})
})

test('a TypeScript project in CommonJS compiles and requires the client', async (t) => {
  const { service, key } = await startServices(t)
  const project = join(installed.folder, 'commonjs')
  mkdirSync(project)
  copyFileSync(join(import.meta.dirname, 'commonjs-main.txt'), join(project, 'main.ts'))
  writeFileSync(join(project, 'package.json'), '{"type":"commonjs"}')
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
  const options = ['--strict', '--target', 'es2022', ...types]
  // The last of them writes what runs below.
  for (const [module, resolution] of [
    ['node16', 'node16'],
    ['preserve', 'bundler'],
    ['commonjs', 'node10'],
  ]) {
    const kind = ['--module', module!, '--moduleResolution', resolution!]
    const compiler = join(TOOLS, 'typescript5/bin/tsc')
    await run(process.execPath, [compiler, ...options, ...kind, 'main.ts'], { cwd: project })
  }
  const program = join(project, 'main.js')
  assert.match(readFileSync(program, 'utf8'), /require\("server-listing-client"\)/)
  const env = { ...process.env, BASE_URL: service, SERVER_LISTING_KEY: key }
  const node20 = join(TOOLS, 'node20/bin/node')
  for (const binary of [node20, process.execPath]) {
    const { stdout } = await run(binary, [program], { env })
    assert.equal(stdout, 'Survival play.example.com\nrequire and import load the same\n')
  }
})

test('the sources use nothing newer than ES2022', async () => {
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', join(ROOT, 'client')])
})

test('the package has no dependency, and each file that it needs', () => {
  const folder = join(installed.folder, 'node_modules')
  assert.deepEqual(
    readdirSync(folder).filter((name) => !name.startsWith('.')),
    ['server-listing-client'],
  )
  const files = readdirSync(join(folder, 'server-listing-client')).toSorted()
  assert.deepEqual(files, ['LICENSE', 'README.md', 'dist', 'package.json'])
})

/** The real service with its own clock and one server, and a server with wrong answers. */
async function startServices(t: TestContext) {
  const { apiPort, store } = await startDashboard(t)
  const entry = { name: 'Survival', address: 'play.example.com' }
  const { key } = await addOwner(store, 'ada@example.com', [entry])
  const closed = await startTestService(t)
  await closed.close()
  return {
    service: `http://127.0.0.1:${apiPort}`,
    key,
    odd: await startOddService(t, answerOddly),
    refused: `http://127.0.0.1:${closed.port}`,
  }
}

function assertOutcomes(outcomes: unknown): void {
  assert.deepEqual(outcomes, {
    listings: [['Survival'], ['Survival']],
    watched: 1,
    refused: 'ConnectionError',
    ...EXPECTED,
  })
}
