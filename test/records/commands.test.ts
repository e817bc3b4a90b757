import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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
import { openStory, pathOf, STORIES, type StoryDatabase } from './story.ts'
import {
  compare,
  type Input,
  isCommand,
  isSuccess,
  type Play,
  readTranscript,
} from './transcript.ts'

/*
 * What every command prints and with which code it exits, on both engines. The records are in
 * commands/, and test/README.md describes them.
 */

/** They run until a signal, or wait for the end of many seconds: cli/service/ and conform/. */
const ELSEWHERE = ['serve', 'conform']
/** `migrate` changes only these. */
const SCHEMA = ['schema_migrations', 'service_epoch']
/** The last line of a command that changes anything. */
const DATABASE = /^ {2}! database: /

let server: Server
before(async () => {
  makePasswordsCheap()
  server = await openServer()
})
after(() => server.remove())

for (const story of STORIES)
  test(`commands do what ${story}.txt records`, async (t) => {
    const engines = new Map([
      ['sqlite', await playOn(t, story, null)],
      ['postgres', await playOn(t, story, await createDatabase(server))],
    ])
    await compare(pathOf(story), engines)
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
    assert.ok(isElsewhere || own.some(isSuccess), `no record has a success of \`${command}\``)
    assert.ok(!own.every(isSuccess), `no record has a refusal of \`${command}\``)
  }
})

test('a refused command changes no row, and each change has an audit entry and names its database', () => {
  for (const input of readInputs().filter(isCommand)) {
    const { text, record } = input
    const tables = record.flatMap((line) => /^ {2}(?:on \w+: )?(\w+) [-+~] /.exec(line)?.[1] ?? [])
    const said = record.filter((line) => line.startsWith('  ! '))
    if (!isSuccess(input)) {
      assert.deepEqual([tables, said.filter((line) => DATABASE.test(line))], [[], []], text)
      continue
    }
    if (tables.length === 0) continue
    assert.match(said.at(-1) ?? '', DATABASE, text)
    assert.ok(tables.includes('audit_log') || tables.every((table) => SCHEMA.includes(table)), text)
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
  return STORIES.flatMap((story) => readTranscript(pathOf(story)))
}

function isOf(command: string, text: string): boolean {
  const words = text.replace(/^(?:[A-Z_]+=\S* )+/, '')
  return words.startsWith(command) && !words.endsWith('--help')
}

async function playOn(t: TestContext, story: string, url: string | null): Promise<Play> {
  let service: Service | null = null
  // Before the folder goes.
  t.after(() => service?.close())
  const folder = temporaryFolder(t)
  const database: StoryDatabase =
    url === null
      ? { engine: 'sqlite', path: join(folder, 'data', 'listing.db') }
      : { engine: 'postgres', url }
  const { place, play } = await openStory(t, story, database, folder)
  const { names } = place
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
