import { setTimeout as delay } from 'node:timers/promises'
import type { MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import { html } from 'hono/html'
import { addressOf, type Context, type Dashboard, type Env } from '../context.ts'
import { showPage } from '../html/page.ts'
import { type Action, BUDGETS, createTokenBuckets, WAITING_MAX } from './token-bucket.ts'

/** Delay before a 429, so that retrying at once gains nothing. */
const DELAY_MS = 1_000

/**
 * Throttles each user, across all of their sessions. Runs after `requireSession`, and after a wait
 * runs that again.
 */
export function throttleUser(dashboard: Dashboard, requireSession: MiddlewareHandler<Env>) {
  const buckets = createTokenBuckets(dashboard.now)
  return createMiddleware<Env>(async (c, next) => {
    const action = c.req.method === 'POST' ? 'write' : 'page'
    const admission = await buckets.admit(c.get('session').userId, action)
    if (admission === null) return refuse(c, action)
    try {
      if (!admission.waited) return await next()
      // The browser may have hung up and the session may have ended meanwhile.
      return c.env.outgoing.destroyed ? c.body(null, 204) : await requireSession(c, next)
    } finally {
      admission.end()
    }
  })
}

/**
 * Throttles pages without a session, per client address. Forms that sign in have limits of their
 * own.
 */
export function throttleAddress(dashboard: Dashboard) {
  const buckets = createTokenBuckets(dashboard.now)
  return createMiddleware<Env>(async (c, next) => {
    if (c.req.method === 'POST') return next()
    const admission = await buckets.admit(addressOf(dashboard, c), 'page')
    if (admission === null) return refuse(c, 'page')
    try {
      if (c.env.outgoing.destroyed) return c.body(null, 204)
      return await next()
    } finally {
      admission.end()
    }
  })
}

async function refuse(c: Context, action: Action): Promise<Response> {
  await delay(DELAY_MS)
  const seconds = Math.ceil(WAITING_MAX / BUDGETS[action].perSecond)
  c.header('Retry-After', String(seconds))
  return showPage(c, {
    title: 'Too many requests',
    status: 429,
    width: 'form',
    body: html`<p>You sent too many requests at once. This one changed nothing. Wait ${seconds} seconds, go back and try again.</p>`,
  })
}
