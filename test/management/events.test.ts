import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { DatabaseConfig } from '../../src/config/database-url.ts'
import { sql, uuid } from '../../src/database/sql.ts'
import { AUDIT_KEPT_US } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { runCommand } from '../cli/command.ts'
import { eventually } from '../fixtures/eventually.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { recordsOf } from '../fixtures/records.ts'
import { type Door, enginesOn, openDoor } from './door.ts'

/* The audit log as a site reads it: in the order of its commits, without gaps. */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const ENGINES = enginesOn(() => server)

interface Page {
  events: { id: string; action: string; subject: string; external_id: string | null }[]
  next: string
}

async function read(door: Door, after: string | null = null, limit = 1_000): Promise<Page> {
  const query = `limit=${limit}${after === null ? '' : `&after=${after}`}`
  return (await door.read(200, `GET /v1/events?${query}`)) as unknown as Page
}

/** The same once it has so many events: each transaction on the server holds up later ones. */
async function readAll(door: Door, count: number, after: string | null = null): Promise<Page> {
  let page = await read(door, after)
  await eventually(async () => {
    page = await read(door, after)
    return page.events.length >= count
  })
  return page
}

const subjects = ({ events }: Page): string[] => events.map(({ subject }) => subject)

async function assertGone(door: Door, cursor: string): Promise<void> {
  const { error } = await door.read(410, `GET /v1/events?after=${encodeURIComponent(cursor)}`)
  assert.match(String(error), /^The log has no entry at this cursor any more: .* begin without/)
}

const addEntry = (subject: string) =>
  ({
    action: 'user added',
    user_id: null,
    subject,
    address: 'x',
    occurred_at: presentInstant(),
  }) as const

for (const [engine, open] of Object.entries(ENGINES)) {
  test(`on ${engine}, pages follow each other, and the last one leads to what comes later`, async (t) => {
    const door = await openDoor(t, { open })
    assert.deepEqual(await read(door), { events: [], next: null })
    for (const id of ['1', '2', '3', '4', '5']) await door.addUser(id)
    await readAll(door, 5)
    let after: string | null = null
    const pages: Page[] = []
    for (let count = 0; count < 4; count += 1) {
      pages.push(await read(door, after, 2))
      after = pages.at(-1)!.next
    }
    assert.deepEqual(pages.map(subjects), [['1', '2'], ['3', '4'], ['5'], []])
    assert.equal(pages[3]!.next, pages[2]!.next)
    await door.addUser('6')
    const { events } = await readAll(door, 1, after)
    const { id, ...event } = events[0]! as Page['events'][0] & {
      occurred_at: string
      user_id: string
    }
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.match(event.occurred_at, /^\d{4}-.*\.\d{6}Z$/)
    assert.match(event.user_id, /^[0-9a-f-]{36}$/)
    assert.deepEqual(
      { ...event, occurred_at: '', user_id: '' },
      {
        occurred_at: '',
        action: 'user added',
        user_id: '',
        email: null,
        external_id: '6',
        subject: '6',
        address: 'command line',
      },
    )
  })

  test(`on ${engine}, a page can end amid the entries of a transaction`, async (t) => {
    const door = await openDoor(t, { open })
    const banned = ['1', '2', '3'].map((external_id) => ({
      external_id,
      banned_at: '2026-01-31T12:00:00Z',
    }))
    await door.read(200, 'POST /v1/acts', { body: { put_users: banned } })
    await readAll(door, 3)
    const first = await read(door, null, 1)
    const second = await read(door, first.next, 1)
    const third = await read(door, second.next, 1)
    assert.deepEqual([first, second, third].flatMap(subjects), ['1', '2', '3'])
  })

  test(`on ${engine}, a cursor of no entry is gone`, async (t) => {
    const door = await openDoor(t, { open })
    await door.addUser('1')
    const { next } = await readAll(door, 1)
    const [name, place, ...id] = next.split('-')
    const other = name === 'xid' ? 'rowid' : 'xid'
    for (const cursor of [
      '',
      '0',
      `${next}0`,
      ` ${next}`,
      `${name}-${Number(place) + 1}-${id.join('-')}`,
      `${other}-${place}-${id.join('-')}`,
      `${name}-${'9'.repeat(19)}-${id.join('-')}`,
      `${name}-${place}-00000000-0000-7000-8000-000000000000`,
      `${name}-${place}-${'-'.repeat(36)}`,
    ])
      await assertGone(door, cursor)
    for (const limit of ['0', '1001', '', '-1', '1.5', '1e1', 'x'])
      assert.match(String((await door.read(400, `GET /v1/events?limit=${limit}`)).error), /limit/)
    assert.equal((await door.send('GET /v1/events?before=1')).status, 400)
    assert.equal((await door.send(`GET /v1/events?after=${next}&after=${next}`)).status, 400)
  })

  test(`on ${engine}, a cursor that is older than the log is gone`, async (t) => {
    const door = await openDoor(t, { open })
    const old = { ...addEntry('old'), occurred_at: presentInstant() - AUDIT_KEPT_US - 1_000_000 }
    await recordsOf(door.store).writeAudit(old)
    const { next } = await readAll(door, 1)
    await recordsOf(door.store).writeAudit(addEntry('new'))
    await assertGone(door, next)
    assert.deepEqual(subjects(await readAll(door, 1)), ['new'])
  })

  test(`on ${engine}, a restore ends the cursors behind the archive, and no other`, async (t) => {
    const database: DatabaseConfig = await open(t)
    const archive = join(temporaryFolder(t), 'archive.db')
    const first = await openDoor(t, { open: async () => database })
    for (const id of ['1', '2']) await first.addUser(id)
    const { next: kept } = await readAll(first, 2)
    await run(database, ['backup', archive])
    // The archive lacks its own entry.
    const { next: early } = await readAll(first, 3)
    for (const id of ['3', '4']) await first.addUser(id)
    const { next: late } = await readAll(first, 5)
    await first.service.close()

    await run(database, ['restore', archive, '--yes'])
    const second = await openDoor(t, { open: async () => database })
    for (const count of [0, 3]) {
      for (const id of ['5', '6', '7'].slice(0, count)) await second.addUser(id)
      await assertGone(second, late)
      await assertGone(second, early)
      const [restored, ...added] = (await readAll(second, count + 1, kept)).events
      assert.equal(restored!.action, 'database restored')
      assert.deepEqual(
        added.map(({ subject }) => subject),
        ['5', '6', '7'].slice(0, count),
      )
    }
  })

  test(`on ${engine}, a restore into a new database ends all cursors`, async (t) => {
    const archive = join(temporaryFolder(t), 'archive.db')
    const database = await open(t)
    const first = await openDoor(t, { open: async () => database })
    await recordsOf(first.store).writeAudit(addEntry('gone'))
    for (const id of ['1', '2', '3']) await first.addUser(id)
    await first.store.database.run(sql`DELETE FROM audit_log WHERE subject = 'gone'`)
    await readAll(first, 3)
    const { next } = await read(first, null, 2)
    assert.deepEqual(subjects(await read(first, next)), ['3'])
    await run(database, ['backup', archive])
    const another = await open(t)
    await run(another, ['restore', archive, '--yes'])
    const second = await openDoor(t, { open: async () => another })
    // One transaction wrote them all, so the entry of the restore may stand anywhere.
    assert.deepEqual(subjects(await read(second)).toSorted(), [archive, '1', '2', '3'])
    await assertGone(second, next)
  })
}

async function run(database: DatabaseConfig, args: string[]): Promise<void> {
  const DATABASE_URL = database.engine === 'sqlite' ? `sqlite:${database.path}` : urlOf(database)
  const { code, stderr } = await runCommand(args, { env: { DATABASE_URL } })
  assert.equal(code, 0, stderr)
}

const urlOf = (database: DatabaseConfig): string =>
  database.engine === 'postgres' ? database.url : assert.fail()

const insert = (subject: string) => sql`
  INSERT INTO audit_log (id, occurred_at, action, subject, address)
  VALUES (${uuid(crypto.randomUUID())}, now(), 'user added', ${subject}, '')`

test('entries whose transactions commit in the other order appear in one order, once', async (t) => {
  const door = await openDoor(t, { open: ENGINES.PostgreSQL })
  const { database } = door.store
  await door.addUser('before')
  const { next } = await readAll(door, 1)
  const [begun, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow = database.transact(async (transaction) => {
    await transaction.run(insert('slow'))
    begun.resolve()
    await release.promise
  })
  await begun.promise
  await door.addUser('fast')
  // The later transaction has committed, and waits for the one that began before it.
  const meanwhile = await read(door, next)
  release.resolve()
  await slow
  assert.deepEqual(meanwhile, { events: [], next })
  assert.deepEqual(subjects(await readAll(door, 2, next)), ['slow', 'fast'])
})

test('a transaction that rolls back holds up no entry for good', async (t) => {
  const door = await openDoor(t, { open: ENGINES.PostgreSQL })
  const { database } = door.store
  await assert.rejects(
    database.transact(async (transaction) => {
      await transaction.run(sql`UPDATE last_backup SET only_row = only_row`)
      await transaction.run(sql`
        INSERT INTO audit_log (id, occurred_at, action, subject, address)
        VALUES (gen_random_uuid(), now(), 'user added', 'undone', '')`)
      throw new Error('undone')
    }),
    /undone/,
  )
  await door.addUser('7')
  assert.deepEqual(subjects(await readAll(door, 1)), ['7'])
})

test('entries of a dump from another server are behind the present ones, and hide none', async (t) => {
  const database = await ENGINES.PostgreSQL()
  const door = await openDoor(t, { open: async () => database })
  for (const id of ['1', '2']) await door.addUser(id)
  const { next } = await readAll(door, 2)
  await asAdmin(database.url, (client) =>
    client.query(`
      INSERT INTO audit_log (id, occurred_at, action, subject, address, xid)
      SELECT gen_random_uuid(), now(), 'user added', 'foreign', '', '9000000000000'`),
  )
  assert.deepEqual(subjects(await readAll(door, 1, next)), ['foreign'])
  await door.addUser('3')
  assert.deepEqual(subjects(await readAll(door, 2, next)), ['foreign', '3'])
})
