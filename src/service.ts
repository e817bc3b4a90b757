import { setImmediate as turn } from 'node:timers/promises'
import { createAnswer } from './api/answer.ts'
import { refusal, ROUTES } from './api/responses.ts'
import { ownUrlOf, type SignUp } from './config/config.ts'
import {
  CONNECTIONS_MAX as DASHBOARD_CONNECTIONS_MAX,
  type Handler,
  type HandlerListener,
  listenForDashboard,
  MANAGEMENT_CONNECTIONS_MAX,
} from './web/listen.ts'
import { createEpisodes } from './log/episodes.ts'
import { createReadAddress, createReadPeer } from './http/client-address.ts'
import { LIMITS } from './http/limits.ts'
import { listen } from './http/listen.ts'
import { type PeerRule, shareOf } from './http/admission/peer-limit.ts'
import { type Instant, presentInstant } from './model/instant.ts'
import type { ServingStore } from './database/store.ts'
import type { Log } from './log/log.ts'
import type { ManagementListening } from './management/listen.ts'
import { listenForOps, type Ops, type OpsOptions } from './ops/listen.ts'
import { createRequestMeter, type RequestMeter } from './ops/request-meter.ts'
import { usageCounts } from './keys/records/usage-counts.ts'
import { createUsageCounter, type UsageCounter } from './keys/usage/usage-counter.ts'
import type { Oidc, OidcOptions, OidcSettings } from './accounts/sign-in/oidc/oidc.ts'
import type { Database } from './database/database.ts'

/** The most connections at a time, per listener. */
export const CONNECTIONS_MAX = {
  api: LIMITS.connectionsMax,
  dashboard: DASHBOARD_CONNECTIONS_MAX,
  management: MANAGEMENT_CONNECTIONS_MAX,
}

export interface ServiceOptions {
  /** Null without a usable database. Every request with a key then fails with `problem`. */
  store: ServingStore | null
  problem?: Error
  host: string
  /** 0 picks a free port. */
  port: number
  /** Lets other processes listen on the same ports. The store must allow several processes. */
  reusePort?: boolean
  dashboard: DashboardOptions
  /** The listener for health and metrics. By default there is none. */
  ops?: Pick<OpsOptions, 'host' | 'port' | 'log' | 'build'>
  /** The listener for the operator's site. By default there is none. */
  management?: Pick<ManagementListening, 'host' | 'port' | 'tokensFile' | 'warn'> | null
  log: Pick<Log, 'fault' | 'http'>
}

export interface DashboardOptions {
  port: number
  /** The public URLs of the API and of the dashboard. Null for the URL of the listener. */
  baseUrl: string | null
  dashboardUrl: string | null
  /** The public URL of the website. Null for that of the dashboard. */
  siteUrl?: string | null
  /** Serves the pages of published servers. By default there are none. */
  publicPages?: boolean
  /** By default the pages have the name of this program, and name no contact. */
  siteName?: string | null
  contact?: string | null
  /** True if the site at `siteUrl` manages the servers, and no page changes them. */
  serversElsewhere?: boolean
  signUp: SignUp
  /** False if no user signs in by password. By default users do. */
  passwords?: boolean
  /** The identity provider whose accounts sign in. By default there is none. */
  oidc?: OidcSettings | null
  /** Email addresses of the accounts that see the operator's page, in lower case. */
  operators?: readonly string[]
  /** The version of this program, for the operator's page. */
  version?: string
  trustedProxies: readonly string[]
  /** The clock of the dashboard's rules. The API measures time by itself. */
  now?: () => Instant
}

export interface Service {
  host: string
  port: number
  dashboardPort: number
  /** Null without a listener for health and metrics. */
  ops: { host: string; port: number } | null
  /** Null without a listener for the operator's site. */
  management: { host: string; port: number } | null
  /** From now on `/readyz` is 503, so that a load balancer sends new requests elsewhere. */
  drain(): void
  /** Finishes open requests, then closes the store. Takes at most ten seconds. */
  close(): Promise<void>
}

/** Starts the service on a store. The service closes the store when it ends. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { store, problem, host, port, reusePort = false, dashboard, log } = options
  const counter =
    store === null
      ? null
      : createUsageCounter(usageCounts(store.counting), log.fault, dashboard.now)
  const requests = createRequestMeter(Object.values(ROUTES))
  const claim = store?.claim ?? (() => Promise.reject(problem))
  const api = listen(
    {
      answer: createAnswer({ store: { claim }, count: counter?.count, onFault: log.fault }),
      refuse: refusal,
      observe(event) {
        requests.observe(event)
        log.http(event)
      },
    },
    host,
    port,
    LIMITS,
    { peers: peersOf('api', options), reusePort },
  )
  const load = async (): Promise<Handler> => {
    const [{ port: apiPort }, { port: pagesPort }] = await Promise.all([api, pages])
    return loadDashboard(options, counter, {
      baseUrl: dashboard.baseUrl ?? ownUrlOf(host, apiPort),
      dashboardUrl: dashboard.dashboardUrl ?? ownUrlOf(host, pagesPort),
    })
  }
  const urls = [dashboard.dashboardUrl, dashboard.siteUrl ?? null].filter((url) => url !== null)
  const pages = listenForDashboard({
    load,
    onFault: log.fault,
    host,
    port: dashboard.port,
    reusePort,
    peers: peersOf('dashboard', options),
    contact: dashboard.contact ?? null,
    names: urls.map((url) => new URL(url).hostname),
  })
  const operating = startOps(options, requests)
  const managing = startManagement(options, pages)
  const opened = await allOrNone(api, pages, operating, managing)
  const [listener, dashboardListener, ops, management] = opened
  return {
    host: listener.host,
    port: listener.port,
    dashboardPort: dashboardListener.port,
    ops: ops === null ? null : { host: ops.host, port: ops.port },
    management: management === null ? null : { host: management.host, port: management.port },
    drain: () => ops?.drain(),
    async close() {
      ops?.drain()
      await Promise.all([listener.close(), dashboardListener.close(), management?.close()])
      await counter?.close()
      await Promise.all([store?.close(), ops?.close()])
    },
  }
}

class TooManyConnections extends Error {
  override name = 'TooManyConnections'
}

const NAMES = { api: 'API', dashboard: 'dashboard', management: 'management API' }

/** Says once per episode that a peer has its share of the connections. */
function peersOf(
  listener: keyof typeof CONNECTIONS_MAX,
  { dashboard, log }: ServiceOptions,
): PeerRule {
  const share = shareOf(CONNECTIONS_MAX[listener])
  const describe = (peer: string) =>
    `${peer} has ${share} connections to the ${NAMES[listener]}, as many as ` +
    'one address may have, so the service closes further ones. If a proxy of yours has this ' +
    'address, add it to TRUSTED_PROXIES'
  // Reported at each refusal: the log may leave out the first one, and knows the fault afterwards.
  const episodes = createEpisodes<TooManyConnections>(() => {})
  return {
    readPeer: createReadPeer(dashboard.trustedProxies),
    onRefused: (peer) =>
      void log.fault(episodes.meet(() => new TooManyConnections(describe(peer)), peer)),
  }
}

async function startOps(
  { ops, store, problem }: ServiceOptions,
  requests: RequestMeter,
): Promise<Ops | null> {
  return ops === undefined ? null : listenForOps({ ...ops, store, problem, requests })
}

/** Most services have no such listener, and load none of its code. */
async function startManagement(
  options: ServiceOptions,
  pages: Promise<{ port: number }>,
): Promise<HandlerListener | null> {
  const { management = null, store, host, dashboard, log } = options
  if (management === null) return null
  const { listenForManagement } = await import('./management/listen.ts')
  return listenForManagement({
    ...management,
    onFault: log.fault,
    peers: peersOf('management', options),
    async load(tokens) {
      const { port } = await pages
      const { createManagement } = await import('./management/answer.ts')
      return createManagement({
        database: store?.database ?? null,
        operators: dashboard.operators ?? [],
        dashboardUrl: dashboard.dashboardUrl ?? ownUrlOf(host, port),
        passwords: dashboard.passwords ?? true,
        tokens,
        now: dashboard.now ?? presentInstant,
        onFault: log.fault,
      })
    },
  })
}

/** Opens all listeners. If one fails, closes the others. */
async function allOrNone<Listeners extends readonly (Closable | null)[]>(
  ...opening: { [Index in keyof Listeners]: Promise<Listeners[Index]> }
): Promise<Listeners> {
  try {
    return await Promise.all(opening)
  } catch (error) {
    for (const one of await Promise.allSettled(opening))
      if (one.status === 'fulfilled') await one.value?.close()
    throw error
  }
}

interface Closable {
  close(): Promise<void>
}

async function loadDashboard(
  { store, problem, dashboard, log }: ServiceOptions,
  counter: UsageCounter | null,
  { baseUrl, dashboardUrl }: { baseUrl: string; dashboardUrl: string },
): Promise<Handler> {
  if (store === null || counter === null) throw problem ?? new Error('there is no store')
  // In turns, so that the API answers in between. Reading this global loads Node's fetch.
  void globalThis.Response
  await turn()
  const { createDashboard } = await import('./dashboard/app.ts')
  await turn()
  const { createAccounts } = await import('./accounts/sign-in/accounts.ts')
  const { siteName = null, contact = null, serversElsewhere = false } = dashboard
  const { signUp, operators = [], version = '', trustedProxies, now = presentInstant } = dashboard
  const { passwords = true, oidc = null } = dashboard
  const { database } = store
  const siteUrl = dashboard.publicPages ? (dashboard.siteUrl ?? dashboardUrl) : null
  return createDashboard({
    database,
    counter,
    accounts: createAccounts(database, { dashboardUrl, now }),
    passwords,
    oidc: oidc && (await loadOidc(database, { ...oidc, dashboardUrl, operators, now })),
    baseUrl,
    dashboardUrl,
    siteUrl,
    site: {
      name: siteName,
      url: dashboard.siteUrl ?? null,
      contact,
      managesServers: serversElsewhere,
    },
    signUp,
    operators,
    version,
    readAddress: createReadAddress(trustedProxies),
    now,
    onFault: log.fault,
  })
}

/** Most services have no identity provider, and load none of its code. */
async function loadOidc(database: Database, options: OidcOptions): Promise<Oidc> {
  const { createOidc } = await import('./accounts/sign-in/oidc/oidc.ts')
  return createOidc(database, options)
}
