import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
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
import { createShortener } from './as-above.ts'
import { playCommands } from './commands.ts'
import { createNames as createRowNames } from '../rows/names.ts'
import { createNames } from './names.ts'
import { watchRows } from './rows.ts'
import { compare, type Input, type Play, readTranscript } from './transcript.ts'

/*
 * What every command prints and with which code it exits, on both engines. The records are in
 * commands/, and test/README.md describes them.
 */

const FOLDER = join(import.meta.dirname, 'commands')
const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name))
/** They run until a signal, or wait for the end of many seconds: cli/service/ and conform/. */
const ELSEWHERE = ['serve', 'conform']
/** The schema, and the last use of a key. */
const WITHOUT_AUDIT = ['schema_migrations', 'service_epoch', 'api_key_uses']
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
      ['sqlite', await playOn(t, file, null)],
      ['postgres', await playOn(t, file, await createDatabase(server))],
    ])
    await compare(file, engines)
  })

test('every command has a record of its help, of a success and of a refusal', async () => {
  const inputs = readInputs()
  for (const command of ['', ...(await everyCommand())]) {
    const help = `${command} --help`.trim()
    assert.ok(
      inputs.some(({ text }) => text === help),
      `no record has \`$ ${help}\``,
    )
    const own = inputs.filter(({ text }) => isOf(command, text))
    const isElsewhere = ELSEWHERE.includes(command)
    assert.ok(isElsewhere || own.some(isDone), `no record has a success of \`${command}\``)
    assert.ok(!own.every(isDone), `no record has a refusal of \`${command}\``)
  }
})

test('a refused input changes no row, and each one that changes a row writes an audit entry', () => {
  for (const { text, record } of readInputs()) {
    const tables = record.flatMap((line) => /^ {2}(?:on \w+: )?(\w+) [-+~] /.exec(line)?.[1] ?? [])
    if (record.some((line) => /^= [1-9]\d?$/.test(line))) assert.deepEqual(tables, [], text)
    if (text.startsWith('SQL ') || tables.every((table) => WITHOUT_AUDIT.includes(table))) continue
    assert.ok(
      record.some((line) => line.startsWith('  audit_log + ')),
      text,
    )
  }
})

test('every path of the API has a record of each method', () => {
  const text = readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')
  const { paths } = JSON.parse(text) as { paths: Record<string, object> }
  const asked = readInputs().map(({ text }) => text)
  for (const [path, methods] of Object.entries(paths))
    for (const method of Object.keys(methods).filter((name) => /^(?:get|options)$/.test(name))) {
      const url = `http://127.0.0.1:{apiPort}${path.replace('{path}', 'nope')}`
      assert.ok(
        asked.some((one) => `${one} `.startsWith(`${method.toUpperCase()} ${url} `)),
        `no record has \`$ ${method.toUpperCase()} ${url}\``,
      )
    }
})

function readInputs(): Input[] {
  return FILES.flatMap((file) => readTranscript(file))
}

function isOf(command: string, text: string): boolean {
  const words = text.replace(/^(?:[A-Z_]+=\S* )+/, '')
  return words.startsWith(command) && !words.endsWith('--help')
}

function isDone({ record }: Input): boolean {
  return record.find((line) => !line.startsWith('on '))?.startsWith(' ') === true
}

async function playOn(t: TestContext, file: string, url: string | null): Promise<Play> {
  let service: Service | null = null
  // Before the folder goes.
  t.after(() => service?.close())
  const folder = temporaryFolder(t)
  const path = join(folder, 'data', 'listing.db')
  const database: DatabaseConfig =
    url === null ? { engine: 'sqlite', path } : { engine: 'postgres', url }
  const names = createNames(readTranscript(file))
  names.add('folder', folder)
  if (url === null) names.add('database', path)
  else {
    const { host, pathname } = new URL(url)
    names.add('database', `${host}${pathname}`)
  }
  const watch = await watchRows(database, createRowNames(folder))
  t.after(watch.close)
  const play = playCommands({
    env: { DATABASE_URL: url ?? `sqlite:${path}`, ...PORTS },
    folder,
    names,
    watch,
    shorten: createShortener(),
    file: url === null ? path : null,
  })
  return async (input: Input) => {
    if (/\{\w+Port\}/.test(input.text) && names.fill('{opsPort}') === '{opsPort}') {
      service = await startOps(database)
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
