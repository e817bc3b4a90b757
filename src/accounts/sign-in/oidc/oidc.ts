import { type Instant, MINUTE_US } from '../../../model/instant.ts'
import type { Browser, Session } from '../../../model/session.ts'
import type { Database } from '../../../database/database.ts'
import type { ProvidedUser } from '../../identity.ts'
import { identities } from '../../records/identities.ts'
import { identitySignIns } from '../../records/identity-sign-ins.ts'
import { OPERATOR_RIGHT_US } from '../../sessions.ts'
import { draftSession } from '../accounts.ts'
import { sessionCookie } from '../session-cookie.ts'
import { type Flow, FLOW_LENGTH_US, flowCookie, type Purpose } from './flow-cookie.ts'
import { type Arrived, createProvider, type ProviderOptions, type Unfinished } from './provider.ts'

/** Sign-in with the accounts of an identity provider, by OpenID Connect. */
export type Oidc = ReturnType<typeof createOidc>

/** The settings, as the configuration has them. */
export interface OidcSettings extends Omit<ProviderOptions, 'redirectUri' | 'now'> {
  /** What pages call the provider. */
  name: string
  signUp: 'open' | 'closed'
  /** Whether the sign-in page leads to the provider by itself. */
  isAutomatic: boolean
}

export interface OidcOptions extends OidcSettings {
  dashboardUrl: string
  /** The addresses of OPERATORS, which no provider can bring. */
  operators: readonly string[]
  now: ProviderOptions['now']
}

export const CALLBACK_PATH = '/sign-in/oidc/callback'

/** A provider's clock may be behind by this much. */
const CLOCKS_DIFFER_US = MINUTE_US

/** Why a browser that came back has nothing done. */
export type Refusal =
  | Unfinished
  | 'unknown'
  | 'taken'
  | 'ended'
  | 'other account'
  | 'not asked'
  | 'known'
  | 'too many'

/** What came of a browser's return. `cookies` are lines for `Set-Cookie`. */
export interface Finished {
  /** Null if the flow is not this browser's. */
  flow: Pick<Flow, 'purpose' | 'next'> | null
  outcome: 'done' | Refusal
  cookies: readonly string[]
}

export function createOidc(database: Database, options: OidcOptions) {
  const { issuer, name, isAutomatic, dashboardUrl, clientSecret, now } = options
  const provider = createProvider({ ...options, redirectUri: `${dashboardUrl}${CALLBACK_PATH}` })
  const flows = flowCookie(dashboardUrl, clientSecret)
  const acts = createActs(database, options)

  return {
    issuer,
    name,
    isAutomatic,

    /** The provider's address for the browser, and the cookie. Throws ProviderFault. */
    async begin(
      purpose: Purpose,
      sessionId: string | null,
      next: string,
    ): Promise<{ url: string; cookie: string }> {
      const { url, ...secrets } = await provider.begin(purpose === 'confirm')
      const cookie = flows.set({ purpose, sessionId, next, startedAt: now(), ...secrets })
      return { url, cookie }
    },

    /**
     * Finishes what the cookie of this browser began. Throws ProviderFault, and the same answer
     * may then work later.
     */
    async finish(
      line: string,
      query: string,
      current: Session | null,
      browser: Browser,
    ): Promise<Finished> {
      const flow = flows.read(line)
      // Another tab may have begun the cookie's sign-in, and can still finish it.
      if (flow === null || !isAnswerTo(flow, query, now()))
        return { flow: null, outcome: 'outdated', cookies: [] }
      const removed = [flows.remove()]
      const acted = await finishFlow(flow)
      if (typeof acted === 'string') return { flow, outcome: acted, cookies: removed }
      return { flow, outcome: 'done', cookies: [...removed, ...acted.cookies] }

      async function finishFlow(begun: Flow): Promise<Acted> {
        const isSignIn = begun.purpose === 'sign-in'
        if (!isSignIn && current?.id !== begun.sessionId) return 'ended'
        const arrived = await provider.finish(query, begun)
        if (typeof arrived === 'string') return arrived
        if (isSignIn || current === null) return acts.signIn(arrived, browser)
        if (begun.purpose === 'connect') return acts.connect(arrived, current, browser)
        return acts.confirm(arrived, begun, current, browser)
      }
    },
  }
}

/** What a browser came back for, done in the store. */
function createActs(database: Database, { signUp, dashboardUrl, operators, now }: OidcOptions) {
  const session = sessionCookie(dashboardUrl)
  const records = identitySignIns(database)

  /** The new session's cookie, or why there is none. */
  async function signIn({ user }: Arrived, browser: Browser): Promise<Acted> {
    const { draft, token } = draftFor(user, browser)
    const rules = { signUp, reserved: operators }
    const outcome = await records.signIn(user, draft, rules)
    return typeof outcome === 'string' ? outcome : { cookies: [session.set(token)] }
  }

  /** The same for a session that takes the place of this one. */
  async function confirm(
    { user, authenticatedAt }: Arrived,
    { startedAt }: Flow,
    current: Session,
    browser: Browser,
  ): Promise<Acted> {
    const isOld = authenticatedAt !== null && authenticatedAt < startedAt - CLOCKS_DIFFER_US
    if (isOld) return 'not asked'
    const { draft, token } = draftFor(user, browser)
    const action = authenticatedAt === null ? 'confirmed without auth_time' : 'confirmed'
    const isConfirmed = await records.confirm(current, user, draft, action)
    return isConfirmed ? { cookies: [session.set(token)] } : 'other account'
  }

  async function connect({ user }: Arrived, current: Session, browser: Browser): Promise<Acted> {
    const actor = { address: browser.address, at: now() }
    const connected = await identities(database).connect(current, user, actor)
    if (connected === 'connected') return { cookies: [] }
    return connected === 'taken' ? 'other account' : connected
  }

  function draftFor({ isOperator }: ProvidedUser, browser: Browser) {
    const at = now()
    return draftSession(browser, at, isOperator ? at + OPERATOR_RIGHT_US : null)
  }

  return { signIn, confirm, connect }
}

/** New cookies, or why nothing was done. */
type Acted = { cookies: readonly string[] } | Refusal

function isAnswerTo({ state, startedAt }: Flow, query: string, at: Instant): boolean {
  const [sent, ...others] = new URLSearchParams(query).getAll('state')
  return sent === state && others.length === 0 && at - startedAt < FLOW_LENGTH_US
}
