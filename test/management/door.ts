import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import type { Server } from '../fixtures/postgres/server.ts'
import assert from 'node:assert/strict'
import { appendFileSync, writeFileSync } from 'node:fs'
import { type Agent, request } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createToken, hashToken } from '../../src/accounts/token.ts'
import { type User, createUser } from '../../src/accounts/user.ts'
import type { ServingStore } from '../../src/database/store.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { openServingStore } from '../../src/open-store.ts'
import { type Service, startService } from '../../src/service.ts'
import { type OpenDatabase, sqliteDatabase } from '../fixtures/dashboard.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { recordsOf } from '../fixtures/records.ts'
import { type Answer, answerTo } from '../fixtures/requests.ts'
import { flawsOf } from './described.ts'

export interface Sent {
  /** By default the token of the site. Null for none. */
  token?: string | null
  headers?: Record<string, string>
  /** Anything but text and bytes is sent as JSON. */
  body?: unknown
  agent?: Agent
}

/** A service with a management API on a real socket and a real database. */
export interface Door {
  port: number
  store: ServingStore
  service: Service
  tokensFile: string
  /** The token `site`. */
  token: string
  faults: unknown[]
  warnings: string[]
  send(line: string, sent?: Sent): Promise<Answer>
  /** The JSON of an answer with this status. */
  read(status: number, line: string, sent?: Sent): Promise<Record<string, unknown>>
  addUser(externalId: string, email?: string | null): Promise<User>
}

export interface DoorSettings {
  /** An SQLite file of the test's own if absent. */
  open?: OpenDatabase
  operators?: readonly string[]
  host?: string
  passwords?: boolean
}

/** A new token and its line in the file. */
export function newToken(name: string): { token: string; line: string } {
  const token = createToken()
  return { token, line: `${name} ${hashToken(token)}\n` }
}

export async function openDoor(
  t: TestContext,
  {
    open = sqliteDatabase,
    operators = [],
    host = '127.0.0.1',
    passwords = true,
  }: DoorSettings = {},
): Promise<Door> {
  const tokensFile = join(temporaryFolder(t), 'tokens')
  const { token, line } = newToken('site')
  writeFileSync(tokensFile, line)
  const [faults, warnings] = [[] as unknown[], [] as string[]]
  const fault = (one: unknown) => `5f0c1e9a7b3d-${faults.push(one)}`
  const store = await openServingStore(await open(t), fault)
  const service = await startService({
    store,
    host: '127.0.0.1',
    port: 0,
    log: { fault, http() {} },
    dashboard: {
      port: 0,
      baseUrl: null,
      dashboardUrl: 'https://listing.example.com',
      signUp: 'closed',
      operators,
      passwords,
      trustedProxies: [],
    },
    management: { host, port: 0, tokensFile, warn: (message) => warnings.push(message) },
  })
  t.after(() => service.close())
  const { port } = service.management!
  const send = async (text: string, sent: Sent = {}) => {
    const answer = await sendTo(port, text, { token, ...sent })
    assert.deepEqual(flawsOf(text, answer), [], text)
    return answer
  }
  return {
    port,
    store,
    service,
    tokensFile,
    token,
    faults,
    warnings,
    send,
    async read(status, text, sent) {
      const answer = await send(text, sent)
      if (answer.status !== status) throw new Error(`${text}: ${answer.status} ${answer.body}`)
      return JSON.parse(answer.body) as Record<string, unknown>
    },
    async addUser(externalId, email = null) {
      const user = createUser(email, externalId)
      await recordsOf(store).insertUser(user, operatorAt(presentInstant()))
      return user
    },
  }
}

/** A line such as `GET /v1/users/7`. */
function sendTo(port: number, line: string, sent: Sent): Promise<Answer> {
  const [method = '', path = ''] = line.split(' ')
  const { token, body, agent } = sent
  const bytes = bytesOf(body)
  const headers = {
    ...(token == null ? {} : { authorization: `Bearer ${token}` }),
    ...(bytes === '' ? {} : { 'content-type': 'application/json' }),
    ...sent.headers,
  }
  const options = { host: '127.0.0.1', port, method, path, headers, agent: agent ?? false }
  return answerTo(request(options), bytes)
}

function bytesOf(body: unknown): string | Buffer {
  if (body === undefined) return ''
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
}

/** Adds a token to the file. */
export function addToken({ tokensFile }: Door, name: string): string {
  const { token, line } = newToken(name)
  appendFileSync(tokensFile, line)
  return token
}

/** How a test opens a migrated database of each engine. */
export const enginesOn = (server: () => Server) => ({
  SQLite: sqliteDatabase,
  PostgreSQL: async () =>
    ({ engine: 'postgres', url: await createMigratedDatabase(server()) }) as const,
})
