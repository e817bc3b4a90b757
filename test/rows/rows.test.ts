import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ENDED, TABLES } from '../../src/archive/archive.ts'
import { everyCommand } from '../cli/every-command.ts'
import { everyRoute, routeOf } from '../dashboard/every-route.ts'
import { sqliteDatabase } from '../fixtures/dashboard.ts'
import { postgresDatabase } from '../fixtures/postgres/config.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { ACTS } from './acts.ts'
import { liveThrough } from './site.ts'
import { writeRecord } from './record.ts'

/** Groups, and commands that open no database. The acts start the service without `serve`. */
const NO_ACT = ['user', 'key', 'server', 'organization', 'audit', 'serve', 'health', 'conform']

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('every page, form and command has an act', async () => {
  const routes = everyRoute()
  const done = ACTS.flatMap((act) => {
    if ('post' in act) return [routeOf(routes, 'POST', act.post)]
    if ('get' in act) return [routeOf(routes, 'GET', act.get)]
    if (!('reads' in act)) return []
    return routes.filter((route) => route.method === 'GET' && act.reads(route) !== null)
  })
  assert.deepEqual(
    routes.filter((route) => !done.includes(route)),
    [],
  )
  const commands = ACTS.flatMap((act) => ('command' in act ? [`${act.command} `] : []))
  assert.deepEqual(
    (await everyCommand()).filter(
      (name) => !NO_ACT.includes(name) && !commands.some((one) => one.startsWith(`${name} `)),
    ),
    [],
  )
})

test('each act in the life of a site changes the recorded rows, on both engines', async (t) => {
  const record = writeRecord({
    SQLite: await liveThrough(t, await sqliteDatabase(t), ACTS),
    PostgreSQL: await liveThrough(t, await postgresDatabase(server), ACTS),
  })
  for (const table of [...TABLES.map(({ name }) => name), ...ENDED])
    assert.match(record, new RegExp(`^  ${table} [-+~] `, 'm'), `no act changes ${table}`)
  const path = join(import.meta.dirname, 'record.txt')
  try {
    // Writes the file with --test-update-snapshots.
    t.assert.fileSnapshot(record, path, { serializers: [(text: string) => text] })
  } catch (error) {
    // The acts that differ, because the whole text is too long for a message.
    assert.deepEqual(actsBeside(readFileSync(path, 'utf8'), record), [])
    assert.deepEqual(actsBeside(record, readFileSync(path, 'utf8')), [])
    throw error
  }
})

/** The acts of one text that the other one does not have like that. */
function actsBeside(other: string, text: string): string[][] {
  const known = other.split('\n\n')
  const acts = text.split('\n\n').filter((act) => !known.includes(act))
  return acts.map((act) => act.split('\n'))
}
