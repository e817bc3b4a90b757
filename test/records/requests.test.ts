import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type { DatabaseConfig } from '../../src/config/database-url.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { everyRoute } from '../dashboard/every-route.ts'
import { type OpenDatabase, PASSWORD, sqliteDatabase } from '../fixtures/dashboard.ts'
import type { Person } from '../fixtures/person.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import {
  openScene,
  openSetup,
  type Scene,
} from '../reliability/fault-injection/scenes/dashboard-scene.ts'
import { createNames, type Names } from './names.ts'
import { askAll, readRequest } from './requests.ts'
import { compare, type Input, type Play, readTranscript } from './transcript.ts'
import { sessions } from '../../src/accounts/records/sessions.ts'
import { disabledUsers } from '../../src/accounts/records/disabled-users.ts'
import { operatorAt } from '../../src/model/audit.ts'

/*
 * What every route of the dashboard answers, on both engines. The records are in requests/, and
 * test/README.md describes them. An input after `$` begins with the rows of the scene.
 */

const FOLDER = join(import.meta.dirname, 'requests')
const FILES = readdirSync(FOLDER).map((name) => join(FOLDER, name))
const SITE = { siteUrl: 'https://example.com', dashboardUrl: 'https://dashboard.example.com' }
/** Making the client takes long. */
const UNRECORDED = /^\/docs\/server-listing-client\.tgz$/
/** Time before each input, for the people's token buckets. */
const REST_MS = 8_000

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

for (const file of FILES)
  test(`pages say what ${basename(file)} records`, async (t) => {
    const begin = basename(file) === 'setup.txt' ? playSetup : playScene
    const engines = new Map([
      ['sqlite', await begin(t, file, sqliteDatabase)],
      ['postgres', await begin(t, file, migratedDatabase)],
    ])
    await compare(file, engines)
  })

test('every route of the dashboard has a record of a success', () => {
  const routes = everyRoute()
  const taken = new Set<(typeof routes)[0] | undefined>()
  for (const { text, record } of FILES.flatMap((file) => readTranscript(file))) {
    const { method, path } = readRequest(text.replaceAll(/\{\w+\}/g, 'x'))
    const [asked] = path.split('?')
    const isOf = (route: (typeof routes)[0]) =>
      (route.method === 'GET') === (method === 'GET') && patternOf(route.path).test(asked!)
    if (record.some((line) => /^= [23]/.test(line))) taken.add(routes.find(isOf))
  }
  const missing = routes.filter((route) => !taken.has(route) && !UNRECORDED.test(route.path))
  assert.deepEqual(
    missing.map(({ method, path }) => `${method} ${path}`),
    [],
  )
})

/** Migrated before the service starts, because a busy server may take too long for the service. */
async function migratedDatabase(): Promise<DatabaseConfig> {
  return { engine: 'postgres', url: await createMigratedDatabase(server) }
}

function patternOf(path: string): RegExp {
  const pattern = path
    .replaceAll('.', String.raw`\.`)
    .replaceAll(/:\w+(?:\{[^}]*\})?/g, '[^/]+')
    .replace(/\/\*$/, '(?:/.*)?')
  return new RegExp(`^${pattern}$`)
}

async function playScene(t: TestContext, file: string, open: OpenDatabase): Promise<Play> {
  const scene = await openScene(t, open, SITE)
  const names = createNames(readTranscript(file))
  addNames(names, scene)
  let people = new Map<string, Person>()
  return async ({ goesOn, text }: Input) => {
    const { dashboard, tables, ada } = scene
    dashboard.elapse(REST_MS)
    if (!goesOn) {
      await tables.restore()
      names.forgetNumbered()
      people = new Map([['ada', ada.copy()]])
    }
    const lines = await askAll(readRequest(names.fill(text)), async (name) => {
      const person = people.get(name) ?? (await personCalled(name, scene))
      people.set(name, person)
      return person
    })
    return lines.map((line) => names.hide(line))
  }
}

/** A person of the scene, or Ada after her session has ended, or Bob after he has been disabled. */
async function personCalled(name: string, { dashboard, ada, user, bob }: Scene): Promise<Person> {
  const { store, visitor } = dashboard
  if (name === 'ended') {
    await sessions(store.database).endSessions(user.id, operatorAt(presentInstant()))
    return ada.copy()
  }
  const person = visitor()
  const signsIn = name === 'disabled' ? 'bob' : name
  if (name !== 'visitor') await person.signIn(`${signsIn}@example.com`, PASSWORD)
  if (name === 'disabled')
    await disabledUsers(store.database).setDisabled(bob.id, true, operatorAt(presentInstant()))
  return person
}

function addNames(names: Names, scene: Scene): void {
  names.add('ada', scene.user.id)
  names.add('bob', scene.bob.id)
  for (const name of [
    'link',
    'otherSession',
    'server',
    'deletion',
    'organization',
    'invitation',
    'emptyOrganization',
    'otherOrganization',
  ] as const)
    names.add(name, scene[name])
  names.add('waiting', scene.waiting.id)
  names.add('fingerprint', scene.waiting.fingerprint)
  for (const [index, { id, key }] of scene.keys.entries()) {
    names.add(`keyId${index + 1}`, id)
    names.add(`wholeKey${index + 1}`, key)
    names.add(`prefix${index + 1}`, key.slice(0, 16))
  }
}

async function playSetup(t: TestContext, file: string, open: OpenDatabase): Promise<Play> {
  const { dashboard, tables, token } = await openSetup(t, open)
  const names = createNames(readTranscript(file))
  names.add('token', token)
  let person = dashboard.visitor()
  return async ({ goesOn, text }: Input) => {
    if (!goesOn) {
      await tables.restore()
      person = dashboard.visitor()
    }
    const lines = await askAll(readRequest(names.fill(text)), async () => person)
    return lines.map((line) => names.hide(line))
  }
}
