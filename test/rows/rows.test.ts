import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ENDED, TABLES } from '../../src/archive/archive.ts'
import { sqliteDatabase } from '../fixtures/dashboard.ts'
import { postgresDatabase } from '../fixtures/postgres/config.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { ROOT } from '../fixtures/tree.ts'
import { ACTS } from './acts.ts'
import { liveThrough } from './site.ts'
import { writeRecord } from './record.ts'

const RECORD = join(import.meta.dirname, 'record.txt')
/** They have rows, too. */
const RECORDS = ['commands', 'requests'].map((name) => join(ROOT, 'test/records', name))
const AUDIT = readFileSync(join(ROOT, 'src/model/audit.ts'), 'utf8')
/** Only version 0.1.0 writes them. */
const UNUSED = ['checked_imports', 'invitations']
/** They need an identity provider: accounts/oidc/. A site is refused in acts/cases/. */
const WITHOUT_ROWS = [
  'site refused',
  'sign-in connected',
  'sign-in removed',
  'confirmed',
  'confirmed without auth_time',
  'signed in by link',
  'identity refused',
]

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('each act changes the rows in record.txt, on both engines', async (t) => {
  const record = writeRecord({
    SQLite: await liveThrough(t, await sqliteDatabase(t), ACTS),
    PostgreSQL: await liveThrough(t, await postgresDatabase(server), ACTS),
  })
  try {
    // Writes the file with --test-update-snapshots.
    t.assert.fileSnapshot(record, RECORD, { serializers: [(text: string) => text] })
  } catch (error) {
    // The acts that differ, because the whole text is too long for a message.
    assert.deepEqual(actsBeside(readFileSync(RECORD, 'utf8'), record), [])
    assert.deepEqual(actsBeside(record, readFileSync(RECORD, 'utf8')), [])
    throw error
  }
})

test('an act or an input of records/ changes each table and writes each kind of audit entry', () => {
  const files = [
    RECORD,
    ...RECORDS.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name))),
  ]
  const texts = files.map((path) => readFileSync(path, 'utf8')).join('\n')
  const rows = texts.split('\n').filter((line) => /^ {2}(?:on \w+: )?\w+ [-+~] /.test(line))
  const known = [...TABLES.map(({ name }) => name), ...ENDED]
  const tables = known.filter((name) => !UNUSED.includes(name))
  assert.deepEqual(
    tables.filter((table) => !rows.some((row) => new RegExp(` ${table} [-+~] `).test(row))),
    [],
  )
  const [, union = ''] = /export type AuditAction =\n((?: {2}\| .*\n)+)/.exec(AUDIT) ?? []
  const actions = [...union.matchAll(/'(.*)'/g)].map(([, action]) => action!)
  assert.ok(actions.length > 50)
  const written = rows.flatMap((row) => / action=(?:"([^"]*)"|(\S+))/.exec(row)?.slice(1) ?? [])
  assert.deepEqual(
    actions.filter((action) => !written.includes(action) && !WITHOUT_ROWS.includes(action)),
    [],
  )
})

/** The acts of one text that the other one does not have like that. */
function actsBeside(other: string, text: string): string[][] {
  const known = other.split('\n\n')
  const acts = text.split('\n\n').filter((act) => !known.includes(act))
  return acts.map((act) => act.split('\n'))
}
