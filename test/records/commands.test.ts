import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, type TestContext, test } from 'node:test'
import type { DatabaseConfig } from '../../src/config/database-url.ts'
import { openServingStore } from '../../src/open-store.ts'
import { type Service, startService } from '../../src/service.ts'
import { everyCommand } from '../cli/every-command.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { makePasswordsCheap } from '../fixtures/passwords/cheap-passwords.ts'
import { createDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { ROOT } from '../fixtures/tree.ts'
import { playCommands } from './commands.ts'
import { createNames } from './names.ts'
import { compare, type Input, readTranscript } from './transcript.ts'

/*
 * What every command prints and with which code it exits, on both engines. The records are in
 * commands/, and test/README.md describes them.
 */

const FOLDER = join(import.meta.dirname, 'commands')
const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name))
/**
 * They run until a signal, or wait for the end of many seconds: cli/service/ and conform/. Only SQL
 * and a sign-in make what the last one needs: accounts/commands/.
 */
const ELSEWHERE = ['serve', 'conform', 'user identities']
/** No port is free for a service of the test, and no service answers on port 1. */
const PORTS = { PORT: '0', DASHBOARD_PORT: '0', OPS_PORT: '1' }

let server: Server
before(async () => {
  makePasswordsCheap()
  server = await openServer()
})
after(() => server.remove())

for (const file of FILES)
  test(`commands print what ${basename(file)} records`, async (t) => {
    const engines = new Map([
      ['sqlite', playOn(t, file, null)],
      ['postgres', playOn(t, file, await createDatabase(server))],
    ])
    await compare(file, engines)
  })

test('every command has a record of its help and of a success', async () => {
  const inputs = FILES.flatMap((file) => readTranscript(file))
  for (const command of ['', ...(await everyCommand())]) {
    const help = `${command} --help`.trim()
    assert.ok(
      inputs.some(({ text }) => text === help),
      `no record has \`$ ${help}\``,
    )
    const succeeds = inputs.some(
      ({ text, record }) =>
        isOf(command, text) && record.find((line) => !line.startsWith('on '))?.startsWith(' '),
    )
    assert.ok(succeeds || ELSEWHERE.includes(command), `no record has a success of \`${command}\``)
  }
})

test('every path of the API has a record of each method', () => {
  const text = readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')
  const { paths } = JSON.parse(text) as { paths: Record<string, object> }
  const asked = FILES.flatMap((file) => readTranscript(file)).map((input) => input.text)
  for (const [path, methods] of Object.entries(paths))
    for (const method of Object.keys(methods).filter((name) => /^(?:get|options)$/.test(name))) {
      const url = `http://127.0.0.1:{apiPort}${path.replace('{path}', 'nope')}`
      assert.ok(
        asked.some((one) => `${one} `.startsWith(`${method.toUpperCase()} ${url} `)),
        `no record has \`$ ${method.toUpperCase()} ${url}\``,
      )
    }
})

function isOf(command: string, text: string): boolean {
  const words = text.replace(/^(?:[A-Z_]+=\S* )+/, '')
  return words.startsWith(command) && !words.endsWith('--help')
}

function playOn(t: TestContext, file: string, url: string | null) {
  let service: Service | null = null
  // Before the folder goes.
  t.after(() => service?.close())
  const folder = temporaryFolder(t)
  const path = join(folder, 'data', 'listing.db')
  const names = createNames(readTranscript(file))
  names.add('folder', folder)
  if (url === null) names.add('database', path)
  else {
    const { host, pathname } = new URL(url)
    names.add('database', `${host}${pathname}`)
  }
  const play = playCommands({
    env: { DATABASE_URL: url ?? `sqlite:${path}`, ...PORTS },
    folder,
    names,
    version: url === null ? versionOf(t, path) : () => null,
  })
  return async (input: Input) => {
    if (/\{\w+Port\}/.test(input.text) && names.fill('{opsPort}') === '{opsPort}') {
      service = await startOps(
        url === null ? { engine: 'sqlite', path } : { engine: 'postgres', url },
      )
      names.add('opsPort', String(service.ops!.port))
      names.add('apiPort', String(service.port))
    }
    return play(input)
  }
}

/** The records show what a fault leads to. */
function onFault(): undefined {}

/** Starts a service on the database, with a port for health. */
async function startOps(database: DatabaseConfig): Promise<Service> {
  const store = await openServingStore(database, onFault)
  return startService({
    store,
    host: '127.0.0.1',
    port: 0,
    log: { fault: onFault, http() {} },
    dashboard: { port: 0, baseUrl: null, dashboardUrl: null, signUp: 'closed', trustedProxies: [] },
    ops: {
      host: '127.0.0.1',
      port: 0,
      log: { info() {}, error() {} },
      build: { version: '1.2.3', engine: '' },
    },
  })
}

/** SQLite gives a connection another number after each commit of another connection. */
function versionOf(t: TestContext, path: string): () => unknown {
  let database: DatabaseSync | null = null
  t.after(() => database?.close())
  return () => {
    if (!existsSync(path)) return null
    database ??= new DatabaseSync(path, { readOnly: true })
    return database.prepare('PRAGMA data_version').get()?.data_version
  }
}
