import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ProvidedUser } from '../../../src/accounts/identity.ts'
import type { DraftSession } from '../../../src/accounts/sessions.ts'
import type { AddressedUser } from '../../../src/accounts/user.ts'
import { openPostgresStore } from '../../../src/postgres/store.ts'
import type { StoreFixture } from '../../contract/fixture.ts'
import { addOrganization, addUsers, OPERATOR, register } from '../../contract/people.ts'
import { type SharedDatabase, shareDatabase } from '../../contract/postgres-fixture.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/*
 * Each act takes a lock before it reads what it decides by. Another transaction holds that lock and
 * changes exactly that. An act without its lock would not wait, and decide by what was before.
 */

export const ISSUER = 'https://id.example.com'
/** The ids of a change that Ada can undo, of her keys, and of no row. */
export const CHANGE = '00000000-0000-4000-8000-00000000000c'
export const FIRST_KEY = '00000000-0000-4000-8000-00000000000a'
export const SECOND_KEY = '00000000-0000-4000-8000-00000000000b'
export const FRESH = '00000000-0000-4000-8000-00000000000f'

let server: Server
let url: string
let database: SharedDatabase
/** It waits for a lock longer than a test holds it. */
let command: Command
type Command = Awaited<ReturnType<typeof openPostgresStore>>

export const provided = (subject: string, email: string | null = null): ProvidedUser => ({
  issuer: ISSUER,
  subject,
  email: email === null ? 'address missing' : { verified: email },
  isOperator: false,
})

export const draft = (tokenHash = 'new'): DraftSession => ({
  tokenHash,
  userAgent: '',
  address: '192.0.2.1',
  startedAt: NOW,
  expiresAt: NOW + 1_000_000,
})

export const CLOSED = { signUp: 'closed', reserved: [] } as const

/**
 * Ada with a password, two identities, a session, a link, an organization, and a server with a
 * change that she can undo; and Bob.
 */
async function fill({ store }: Pick<StoreFixture, 'store'>) {
  const [ada, bob] = (await addUsers(store, 'ada', 'bob')) as [AddressedUser, AddressedUser]
  await recordsOf(store).setPassword(ada.id, 'hash', OPERATOR)
  await asAdmin(url, async (admin) => {
    for (const subject of ['ada', 'other'])
      await admin.query('INSERT INTO identities VALUES ($1, $2, $3)', [ISSUER, subject, ada.id])
  })
  await recordsOf(store).signIn(provided('ada'), draft('first'), CLOSED)
  const session = (await recordsOf(store).findSession(['first'], NOW))!
  const link = { userId: ada.id, tokenHash: 'link', expiresAt: NOW + 1_000_000 }
  await recordsOf(store).keepSignInLink(link, OPERATOR)
  // A statement that changes both finds the second one first.
  for (const key of [SECOND_KEY, FIRST_KEY])
    await read(`INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
      VALUES ('${key}', '${ada.id}', 'bot', 'svc_live_', sha256(gen_random_uuid()::text::bytea), now())`)
  const red = await addOrganization(store, ada, { slug: 'red' })
  const id = await register(store, ada, { slug: 'taken', name: 'One', status: 'draft' })
  const change = { id: CHANGE, becomes: { status: 'published' }, servers: [id] }
  await recordsOf(store).changeServers(ada.id, change, OPERATOR)
  return { ada, bob, session, red, id, command }
}

export type Scene = Awaited<ReturnType<typeof fill>>

export interface Meeting {
  name: string
  hold: string | ((scene: Scene) => string)
  /** What the other transaction changes before it ends. */
  meanwhile: (scene: Scene) => string
  act: (scene: Scene) => Promise<unknown>
  /** A query for what both leave behind, which is expected instead of what the act returns. */
  left?: string
  expected: unknown
}

export const hold = (table: string, id: string) =>
  `SELECT FROM ${table} WHERE id = '${id}' FOR NO KEY UPDATE`
export const holdAda = ({ ada }: Scene) => hold('users', ada.id)
export const holdRed = ({ red }: Scene) =>
  `SELECT FROM organizations WHERE id = '${red}' FOR UPDATE`
export const holdName = (name: string) =>
  `SELECT FROM name_locks WHERE number = ${name === 'apply' ? '1024' : `hashtextextended(E'${name}', 0) & 1023`} FOR UPDATE`
export const addServer = (user: string, id: string, slug: string, organization = '') => `
  INSERT INTO servers (id, created_by, organization_id, name, slug, host_label, updated_at)
  VALUES ('${id}', '${user}', nullif('${organization}', '')::uuid, 'One', '${slug}', 'play.example.com', now())`

/** The first column of each row of a query. */
export async function read(query: string): Promise<unknown[]> {
  return asAdmin(url, async (admin) => {
    const { rows } = await admin.query({ text: query, rowMode: 'array' })
    return rows.map(([first]) => first as unknown)
  })
}

/** A test for each meeting, on one database. */
export function testMeetings(meetings: readonly Meeting[]): void {
  before(async () => {
    server = await openServer()
    url = await createMigratedDatabase(server)
    database = shareDatabase(async () => url)
    command = await openPostgresStore(url, { create: true })
  })
  after(async () => {
    await command.close()
    await database.close()
    await server.remove()
  })
  for (const one of meetings)
    test(one.name, async (t) => {
      const scene = await fill(await database.open(t))
      await asAdmin(url, async (admin) => {
        await admin.query('BEGIN')
        await admin.query(typeof one.hold === 'string' ? one.hold : one.hold(scene))
        let hasEnded = false
        const acting = one.act(scene).finally(() => {
          hasEnded = true
        })
        acting.catch(() => {})
        await eventually(async () => hasEnded || (await isWaitedFor()))
        await admin.query(one.meanwhile(scene))
        await admin.query('COMMIT')
        const result = await acting
        assert.deepEqual(one.left === undefined ? result : await read(one.left), one.expected)
      })
    })
}

function isWaitedFor(): Promise<boolean> {
  return asAdmin(url, async (watcher) => {
    const { rowCount } = await watcher.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    return rowCount === 1
  })
}
