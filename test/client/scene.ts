import type { TestContext } from 'node:test'
import {
  ServerListingClient,
  type ServerListingClientOptions,
  ServerListingError,
} from '../../client/src/index.ts'
import type { User } from '../../src/accounts/user.ts'
import { randomFrom } from '../fixtures/random.ts'
import { addOwner, startTestService, type TestService } from '../fixtures/service.ts'
import { type FakeTime, fakeTime, TIMEOUT_MS } from './fake-time.ts'

/** An answer of the service: when, to which process, with which status. */
export interface Seen {
  at: number
  process: number
  status: number
}

/** The real service with one key, and clients in the fake time of the service. */
export interface Scene {
  service: TestService
  user: User
  key: string
  time: FakeTime
  seen: Seen[]
  /** A client in a process of its own. */
  start(options?: Partial<ServerListingClientOptions>): ServerListingClient
}

export async function startScene(t: TestContext): Promise<Scene> {
  const service = await startTestService(t)
  const entry = { name: 'Survival', address: 'play.example.com' }
  const { user, key } = await addOwner(service.store, 'ada@example.com', [entry])
  const time = fakeTime((ms) => service.clock.elapse(ms))
  const seen: Seen[] = []
  // Seeded, so that clients make the same pauses in each run.
  const random = randomFrom(1)
  let processes = 0
  const start = (options: Partial<ServerListingClientOptions> = {}) => {
    const process = processes
    processes += 1
    const { between } = random.branch()
    return new ServerListingClient({
      baseUrl: `http://127.0.0.1:${service.port}`,
      ...(options.apiKeyFile === undefined ? { apiKey: key } : {}),
      timeoutMs: TIMEOUT_MS,
      clock: time.clock(),
      random: () => between(0, 1),
      async fetch(input, init) {
        const response = await fetch(input, init)
        seen.push({ at: time.now, process, status: response.status })
        return response
      },
      ...options,
    })
  }
  return { service, user, key, time, seen, start }
}

/** Asks again as soon as a call ends, for as long as `body` takes. Returns the errors. */
export async function whileAsking(
  clients: readonly ServerListingClient[],
  body: () => Promise<void>,
): Promise<ServerListingError[]> {
  const stopped = new AbortController()
  const { signal } = stopped
  const errors: ServerListingError[] = []
  const loops = clients.map(async (client) => {
    while (!signal.aborted)
      await client.listServers({ signal }).catch((error: unknown) => {
        if (error instanceof ServerListingError) errors.push(error)
        else if (!signal.aborted) throw error
      })
  })
  await body()
  stopped.abort()
  await Promise.all(loops)
  return errors
}
