import { createAnswer } from './api/answer.ts'
import { refusal } from './api/responses.ts'
import { createReadAddress, createReadPeer } from './dashboard/client-address.ts'
import { createUseCounter, type UseCounter } from './dashboard/count-uses.ts'
import { type Handler, listenForDashboard } from './dashboard/listen.ts'
import { listen } from './http/listen.ts'
import type { Accounts } from './listing/accounts.ts'
import { type Instant, presentInstant } from './listing/instant.ts'
import type { ServingStore } from './listing/store.ts'
import type { Log } from './log.ts'

export interface ServiceOptions {
  /** Null where there is no database that could be used: then `problem` is what every request with a key meets. */
  store: ServingStore | null
  problem?: Error
  host: string
  /** 0 for any free one. */
  port: number
  dashboard: DashboardOptions
  log: Pick<Log, 'fault' | 'http'>
}

export interface DashboardOptions {
  port: number
  openAccounts(): Promise<Accounts>
  /** Where the public reaches the API, and people the dashboard. */
  baseUrl: string
  dashboardUrl: string
  signUp: 'open' | 'closed'
  trustedProxies: readonly string[]
  /** The clock of rules that people meet; the API has its own. */
  now?: () => Instant
}

export interface Service {
  host: string
  port: number
  dashboardPort: number
  /** Answers what was asked, then closes the store. Within ten seconds. */
  close(): Promise<void>
}

/** Starts the service on a store, which is closed with it. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { store, problem, host, port, dashboard, log } = options
  const counter = store === null ? null : createUseCounter(store, log.fault, dashboard.now)
  const useApiKey = store?.useApiKey ?? (() => Promise.reject(problem))
  const api = listen(
    {
      answer: createAnswer({ store: { useApiKey }, onFault: log.fault }),
      refuse: refusal,
      observe(event) {
        counter?.observe(event)
        log.http(event)
      },
    },
    host,
    port,
  )
  const load = () => loadDashboard(options, counter)
  const readPeer = createReadPeer(dashboard.trustedProxies)
  const pages = listenForDashboard(load, log.fault, host, dashboard.port, readPeer)
  const [listener, dashboardListener] = await bothOrNone(api, pages)
  return {
    host: listener.host,
    port: listener.port,
    dashboardPort: dashboardListener.port,
    async close() {
      await Promise.all([listener.close(), dashboardListener.close()])
      await counter?.close()
      await store?.close()
    },
  }
}

/** Two listeners; where one could not be had, the other is closed again. */
async function bothOrNone<A extends Closable, B extends Closable>(
  first: Promise<A>,
  second: Promise<B>,
): Promise<[A, B]> {
  try {
    return await Promise.all([first, second])
  } catch (error) {
    const settled = await Promise.allSettled([first, second])
    for (const one of settled) if (one.status === 'fulfilled') await one.value.close()
    throw error
  }
}

interface Closable {
  close(): Promise<void>
}

async function loadDashboard(
  { store, problem, dashboard, log }: ServiceOptions,
  counter: UseCounter | null,
): Promise<Handler> {
  if (store === null || counter === null) throw problem ?? new Error('there is no store')
  const { createDashboard } = await import('./dashboard/app.ts')
  const { baseUrl, dashboardUrl, signUp, trustedProxies, now = presentInstant } = dashboard
  return createDashboard({
    store,
    counter,
    accounts: await dashboard.openAccounts(),
    baseUrl,
    dashboardUrl,
    signUp,
    readAddress: createReadAddress(trustedProxies),
    now,
    onFault: log.fault,
  })
}
