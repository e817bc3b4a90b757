import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { addAdaWithKey } from '../../cli/ada.ts'
import { PRINT_LOADED } from '../../cli/process.ts'
import { type InstalledProgram, installedProgramIn, logLines } from '../../cli/program.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { ask } from '../../fixtures/requests.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { testEmptyFolder } from './empty-folder.ts'
import { type InstalledPackage, installPackage } from './installed-package.ts'
import { bundledLibraries, lockedVersion, testVersions } from './versions.ts'

/** Each file that a command loads costs 0.4 ms of CPU. */
const COMMAND_FILES_MAX = 10

/** A turn takes 20 ms on two quiet cores. */
const STOP_MS_MAX = 250

/** Says at the end how long the event loop stopped at most, from the load of the pages on. */
const WATCH_STOPS = `
  import { registerHooks } from 'node:module'
  import { monitorEventLoopDelay } from 'node:perf_hooks'
  const delay = monitorEventLoopDelay({ resolution: 1 })
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.endsWith('/app.js')) delay.enable()
      return next(specifier, context)
    },
  })
  process.on('exit', () => console.error('the longest stop took', Math.round(delay.max / 1e6), 'ms'))
`

let installed: InstalledPackage
/** The files of the installed package. */
let folder: string
let postgres: Server

before(async () => {
  installed = installPackage()
  folder = installed.files
  postgres = await openServer()
})
after(async () => {
  installed.remove()
  await postgres.remove()
})

testEmptyFolder(() => installed)
testVersions(() => installed)

const packedIn = (t: TestContext): InstalledProgram =>
  installedProgramIn(t, join(folder, 'bin/server-listing.js'))

/** Makes the statement that looks for passwords fail with an error that no code expects. */
const BREAK_ACCOUNTS = `
  import { DatabaseSync } from 'node:sqlite'
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (sql) {
    if (/ passwords/.test(sql)) throw new TypeError('planted')
    return prepare.call(this, sql)
  }
`

test('the published package has no TypeScript but an example, and the files that the service reads', () => {
  const names = filesOf(folder).filter((name) => !name.startsWith('node_modules/'))
  assert.deepEqual(
    names.filter((name) => name.endsWith('.ts')),
    ['docs/examples/poll.ts'],
  )
  for (const name of ['api', 'integrators', 'clients', 'faq'])
    assert.ok(existsSync(join(folder, `docs/${name}.md`)), 'the dashboard shows it')
  for (const part of ['docs/clients', 'docs/examples'])
    assert.deepEqual(filesOf(join(folder, part)), filesOf(join(ROOT, part)))
  for (const part of ['sqlite/migrations', 'postgres/migrations', 'web/html/assets'])
    assert.deepEqual(filesOf(join(folder, 'dist', part)), filesOf(join(ROOT, 'src', part)))
  assert.ok(existsSync(join(folder, 'dist/accounts/common-passwords.txt')))
})

test('each bundled library comes with its license', () => {
  const licenses = readFileSync(join(folder, 'dist/LICENSES.txt'), 'utf8')
  const bundled = bundledLibraries(folder)
  assert.ok(bundled.has('hono'))
  for (const library of bundled) {
    assert.ok(licenses.includes(`${library} ${lockedVersion(library)} (MIT)\n`), library)
  }
})

for (const engine of ['SQLite', 'PostgreSQL'])
  test(`the packed package migrates, runs commands and serves on ${engine}`, async (t) => {
    const program = packedIn(t)
    const env: Record<string, string> =
      engine === 'SQLite' ? {} : { DATABASE_URL: await createDatabase(postgres) }
    assert.match((await program.run('migrate', { env })).stderr, /0001-schema/)
    await program.done('user add ada@example.com --password-stdin --create', {
      env,
      stdin: 'correct horse battery staple',
    })
    const imported = await program.run('server import --user ada@example.com -', {
      env,
      stdin: '[{"name":"Survival","address":"play.example.com"}]',
    })
    assert.equal(imported.code, 0, imported.stderr)
    const key = await program.done('key issue --user ada@example.com --name bot', { env })
    assert.match(await program.done('key list --user ada@example.com', { env }), /bot/)

    const served = await program.serve({ env })
    const { status, body } = await ask(served.port, { key })
    assert.deepEqual([status, /Survival/.test(body)], [200, true])
    await served.written(/dashboard at/)
    const dashboard = Number(/dashboard at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())?.[1])
    const page = await ask(dashboard, { path: '/sign-in' })
    assert.equal(page.status, 200)
    const [style = ''] = /\/assets\/[\w-]+\.css/.exec(page.body) ?? []
    assert.equal((await ask(dashboard, { path: style })).status, 200)
    const client = await fetch(`http://127.0.0.1:${dashboard}/docs/server-listing-client.tgz`)
    assert.deepEqual(
      Buffer.from(await client.arrayBuffer()),
      readFileSync(installed.release.client),
    )
    served.kill('SIGTERM')
    assert.equal((await served.ended).code, 0)
  })

test('the first page loads in turns, and the API answers in between', async (t) => {
  const program = packedIn(t)
  const served = await program.serve({ preload: WATCH_STOPS })
  await served.written(/dashboard at/)
  const dashboard = Number(/dashboard at http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())?.[1])
  const page = ask(dashboard, { path: '/sign-in' })
  assert.equal((await ask(served.port, { path: '/health' })).status, 200)
  assert.equal((await page).status, 200)
  served.kill('SIGTERM')
  const stops = /the longest stop took (\d+) ms/.exec((await served.ended).stderr)
  const longest = Number(stops?.[1])
  t.diagnostic(`longest stop: ${longest} ms`)
  assert.ok(longest > 0 && longest < STOP_MS_MAX, `${longest} ms`)
})

test('the packed package has the conformance kit', async (t) => {
  const key = `svc_live_${'ab'.repeat(32)}`
  const args = 'conform http://127.0.0.1:1 --key-file -'
  const { code, stderr } = await packedIn(t).run(args, { stdin: key })
  assert.equal(stderr, 'error: cannot reach http://127.0.0.1:1: no program listens there\n')
  assert.equal(code, 1)
})

test('the packed package restores the file of an SQLite database into PostgreSQL', async (t) => {
  const program = packedIn(t)
  await addAdaWithKey(program)
  const env = { DATABASE_URL: await createDatabase(postgres) }
  await program.done(['restore', '--yes', program.databasePath], { env })
  assert.match(await program.done('user list', { env }), /ada@example\.com/)
})

test('a stack trace of the packed package names lines of source files', async (t) => {
  const program = packedIn(t)
  await addAdaWithKey(program)
  const served = await program.serve({ preload: BREAK_ACCOUNTS })
  await served.written(/planted/)
  served.kill('SIGTERM')
  const fault = logLines((await served.ended).stdout).find(({ reason }) => reason === 'planted')
  assertNamesSources(String(fault?.stack))

  const failed = await program.run('user password ada@example.com', {
    env: { LOG_LEVEL: 'debug' },
    preload: BREAK_ACCOUNTS,
    stdin: 'correct horse battery staple',
  })
  assert.equal(failed.code, 1)
  assertNamesSources(failed.stderr)
})

function assertNamesSources(stack: string): void {
  const named = [...stack.matchAll(/\((src\/[\w/-]+\.ts):\d+:\d+\)/g)].map(([, path]) => path!)
  assert.ok(
    named.some((path) => path.startsWith('src/sqlite/')),
    stack,
  )
  for (const path of named) assert.ok(existsSync(join(ROOT, path)), path)
  assert.doesNotMatch(stack, /dist\/\w+\.js:\d/)
}

test('a command of the packed package loads a few files', async (t) => {
  const program = packedIn(t)
  await addAdaWithKey(program)
  const { stderr } = await program.run('key list --user ada@example.com', {
    preload: `
      import { registerHooks } from 'node:module'
      registerHooks({
        load(url, context, next) {
          if (url.startsWith('file:')) console.error(url)
          return next(url, context)
        },
      })
      ${PRINT_LOADED}
    `,
  })
  const files = stderr.split('\n').filter((line) => line.startsWith('file:'))
  assert.ok(files.length <= COMMAND_FILES_MAX, files.join('\n'))
  assert.doesNotMatch(stderr, /NativeModule (http|tls|crypto|child_process|readline)\b/)
})

test('the packed service does not load the fetch client of Node.js', async (t) => {
  const served = await packedIn(t).serve({ preload: PRINT_LOADED })
  assert.equal((await ask(served.port, { path: '/health' })).status, 200)
  served.kill('SIGTERM')
  const { stderr } = await served.ended
  assert.match(stderr, /NativeModule http\b/)
  assert.doesNotMatch(stderr, /NativeModule internal\/deps\/undici/)
})

function filesOf(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).toSorted()
}
