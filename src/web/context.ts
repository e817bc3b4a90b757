import type { HttpBindings } from '@hono/node-server'
import type { Hono, Context as HonoContext } from 'hono'
import type { ReadAddress } from '../http/client-address.ts'
import type { Actor } from '../model/audit.ts'
import type { Instant } from '../model/instant.ts'
import type { Browser, Session } from '../model/session.ts'
import type { Database } from '../database/database.ts'

/** The website that the dashboard belongs to. Each part is null if the operator has not set it. */
export interface Site {
  name: string | null
  /** Without a trailing slash. */
  url: string | null
  /** Where users reach the operator: a `mailto:` or `https:` URL. */
  contact: string | null
  /** True if servers change there alone: the pages show them and change none. */
  managesServers: boolean
}

/** What the pages need from the service. */
export interface Dashboard {
  database: Database
  /** Reads the session of a `Cookie` header from the store. Null if there is none. */
  accounts: { readSession(cookie: string): Promise<Session | null> }
  /** The API's public URL. */
  baseUrl: string
  dashboardUrl: string
  /** The URL below which servers have public pages. Null if they have none. */
  siteUrl: string | null
  site: Site
  signUp: 'open' | 'closed'
  /** Email addresses of the accounts that see the operator's page, in lower case. */
  operators: readonly string[]
  /** The version of the program. */
  version: string
  readAddress: ReadAddress
  now(): Instant
  onFault(fault: unknown): void
}

export interface Env {
  Bindings: HttpBindings
  Variables: {
    site: Site
    session: Session
    isOperator: boolean
    isListed: boolean
    form: URLSearchParams
  }
}

export type App = Hono<Env>
export type Context = HonoContext<Env>

/** Sets the signed-in user of the request. */
export function setSession({ operators, now }: Dashboard, c: Context, session: Session): void {
  const { listedEmail, operatorUntil } = session
  const isListed = listedEmail !== null && operators.includes(listedEmail)
  c.set('session', session)
  c.set('isListed', isListed)
  c.set('isOperator', isListed || (operatorUntil !== null && now() < operatorUntil))
}

/** A field of the submitted form; empty if it has none. */
export function fieldOf(c: Context, name: string): string {
  return c.get('form').get(name) ?? ''
}

export function addressOf({ readAddress }: Dashboard, c: Context): string {
  const socketAddress = c.env.incoming.socket.remoteAddress ?? ''
  return readAddress(socketAddress, c.req.header('X-Forwarded-For'))
}

/** The visitor, now. */
export function actorOf(dashboard: Dashboard, c: Context): Actor {
  return { address: addressOf(dashboard, c), at: dashboard.now() }
}

export function browserOf(dashboard: Dashboard, c: Context): Browser {
  return { userAgent: c.req.header('User-Agent') ?? '', address: addressOf(dashboard, c) }
}

export function cookieOf(c: Context): string {
  return c.req.header('Cookie') ?? ''
}

/** Adds `Set-Cookie` lines to a response. */
export function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}
