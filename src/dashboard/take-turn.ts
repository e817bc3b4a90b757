import { setTimeout as delay } from 'node:timers/promises'
import { createMiddleware } from 'hono/factory'
import { html } from 'hono/html'
import { showPage } from './page.ts'
import { type Act, BUDGETS, createTurns, WAITING_MAX } from './turns.ts'
import { addressOf, cookieOf, type Dashboard, type Env, type Visit } from './visit.ts'

/** How long an answer is held that says that too much was asked: who asks without pause gets no more by it. */
const HELD_MS = 1_000

/** Requests of one user take turns, in however many sessions; to be used where the session is known. */
export function takeTurnOfUser({ accounts, now }: Dashboard) {
  const turns = createTurns(now)
  return createMiddleware<Env>(async (visit, next) => {
    const act = visit.req.method === 'POST' ? 'write' : 'page'
    const turn = await turns.take(visit.get('session').userId, act)
    if (turn === null) return refuse(visit, act)
    try {
      if (turn.waited) {
        // Nobody waits for what was hung up, and a session that has ended meanwhile does nothing any more.
        if (visit.env.outgoing.destroyed) return visit.body(null, 204)
        const session = await accounts.readSession(cookieOf(visit))
        if (session === null) return visit.redirect('/sign-in', 303)
        visit.set('session', session)
      }
      return await next()
    } finally {
      turn.end()
    }
  })
}

/** So do requests for pages from one address without a session. Forms that sign in have limits of their own. */
export function takeTurnOfAddress(dashboard: Dashboard) {
  const turns = createTurns(dashboard.now)
  return createMiddleware<Env>(async (visit, next) => {
    if (visit.req.method === 'POST') return next()
    const turn = await turns.take(addressOf(dashboard, visit), 'page')
    if (turn === null) return refuse(visit, 'page')
    try {
      if (visit.env.outgoing.destroyed) return visit.body(null, 204)
      return await next()
    } finally {
      turn.end()
    }
  })
}

async function refuse(visit: Visit, act: Act): Promise<Response> {
  await delay(HELD_MS)
  const seconds = Math.ceil(WAITING_MAX / BUDGETS[act].perSecond)
  visit.header('Retry-After', String(seconds))
  return showPage(visit, {
    title: 'Too much at once',
    status: 429,
    body: html`<p>More was asked for than one person gets. This request has changed nothing. Wait for ${seconds} seconds, go back, and try again.</p>`,
  })
}
