import { readdirSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Answer, createAnswer } from '../../../src/api/answer.ts'
import { refusal } from '../../../src/api/responses.ts'
import { listen } from '../../../src/http/listen.ts'
import type { Request, Response } from '../../../src/http/message.ts'
import type { ServerEntry } from '../../../src/servers/server-entry.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** A request of the program under test. */
export interface Polled {
  status: number
  askedAt: number
  answeredAt: number
  /** True if the command line of a process has the key. Every user of the machine can read that. */
  isKeyExposed: boolean
}

/** How the service meets a request. */
export type Weather = 'fair' | 'another request at the same moment' | 'broken database' | 'silence'

/** How long a silent service waits with its answer. */
const SILENCE_MS = 3_000

export interface PolledService {
  baseUrl: string
  key: string
  polled: Polled[]
  revoke(): Promise<unknown>
  /** Registers servers, or changes those with the same slug. */
  save(servers: readonly ServerEntry[]): Promise<unknown>
}

/** A real service in real time. The nth request meets the nth weather, and later ones the last. */
export async function startPolledService(
  t: TestContext,
  weathers: readonly Weather[],
  server: ServerEntry = { name: 'Cobblestone', address: 'play.example.com' },
): Promise<PolledService> {
  const path = `${temporaryFolder(t)}/listing.db`
  const store = await openServingSqliteStore(path)
  const polled: Polled[] = []
  const answer = createAnswer({ store, onFault: () => '5f0c1e9a7b3d-1' })
  const database = new DatabaseSync(path)
  const listener = await listen(
    {
      async answer(request) {
        const askedAt = performance.now()
        const weather = weathers[Math.min(polled.length, weathers.length - 1)]!
        const response = await meet(answer, request, weather, database)
        const isKeyExposed = isInCommandLine(key)
        polled.push({
          status: response.status,
          askedAt,
          answeredAt: performance.now(),
          isKeyExposed,
        })
        return response
      },
      refuse: refusal,
      observe() {},
    },
    '127.0.0.1',
    0,
  )
  t.after(async () => {
    await listener.close()
    database.close()
    await store.close()
  })
  const save = (entries: readonly ServerEntry[]) =>
    recordsOf(store).saveServers(user.id, null, [...entries], operatorAt(presentInstant()))
  const { key, keyId, user } = await addOwner(store, 'ada@example.com', [server])
  return {
    baseUrl: `http://127.0.0.1:${listener.port}`,
    key,
    polled,
    save,
    revoke: () => recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(1)),
  }
}

async function meet(
  answer: Answer,
  request: Request,
  weather: Weather,
  database: DatabaseSync,
): Promise<Response> {
  if (weather === 'fair') return answer(request)
  if (weather === 'silence') {
    await delay(SILENCE_MS)
    return answer(request)
  }
  if (weather === 'broken database') {
    database.exec('ALTER TABLE servers RENAME TO elsewhere')
    try {
      return await answer(request)
    } finally {
      database.exec('ALTER TABLE elsewhere RENAME TO servers')
    }
  }
  const [, second] = await Promise.all([answer(request), answer(request)])
  return second
}

function isInCommandLine(text: string): boolean {
  return readdirSync('/proc').some((entry) => {
    if (!/^\d+$/.test(entry)) return false
    try {
      return readFileSync(`/proc/${entry}/cmdline`, 'latin1').includes(text)
    } catch {
      return false // The process has ended.
    }
  })
}
