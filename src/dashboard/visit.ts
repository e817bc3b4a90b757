import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import type { Accounts, AuditAction, Session } from '../listing/accounts.ts'
import type { Instant } from '../listing/instant.ts'
import type { ServingStore } from '../listing/store.ts'
import type { ReadAddress } from './client-address.ts'
import type { UseCounter } from './count-uses.ts'

/** What every page is made from. */
export interface Dashboard {
  store: ServingStore
  accounts: Accounts
  counter: UseCounter
  /** Where the public reaches the API. */
  baseUrl: string
  dashboardUrl: string
  signUp: 'open' | 'closed'
  readAddress: ReadAddress
  now(): Instant
  onFault(fault: unknown): void
}

export interface Env {
  Bindings: HttpBindings
  Variables: { session: Session; form: URLSearchParams; path: string }
}

export type App = Hono<Env>
export type Visit = Context<Env>

/** A field of the form that was sent, or nothing. */
export function fieldOf(visit: Visit, name: string): string {
  return visit.get('form').get(name) ?? ''
}

export function addressOf({ readAddress }: Dashboard, visit: Visit): string {
  const socketAddress = visit.env.incoming.socket.remoteAddress ?? ''
  return readAddress(socketAddress, visit.req.header('X-Forwarded-For'))
}

export function cookieOf(visit: Visit): string {
  return visit.req.header('Cookie') ?? ''
}

/** Writes down what was done. */
export function audit(
  dashboard: Dashboard,
  visit: Visit,
  action: AuditAction,
  userId: string | null,
  subject: string,
): Promise<void> {
  const entry = {
    user_id: userId,
    action,
    subject,
    address: addressOf(dashboard, visit),
    occurred_at: dashboard.now(),
  }
  return afterwards(dashboard, () => dashboard.store.writeAudit(entry), undefined)
}

/**
 * What follows an act that was done: it was, and the page says so, even if this fails, which is reported. Then
 * `otherwise` is the result.
 */
export async function afterwards<T>(
  { onFault }: Pick<Dashboard, 'onFault'>,
  work: () => Promise<T>,
  otherwise: T,
): Promise<T> {
  try {
    return await work()
  } catch (fault) {
    onFault(fault)
    return otherwise
  }
}
