import { type Instant, MINUTE_US } from '../../../model/instant.ts'
import type { Browser, Session } from '../../../model/session.ts'
import type { Database } from '../../../database/database.ts'
import type { Identity, ProvidedUser, SessionRefusal, SignInRefusal } from '../../identity.ts'
import { identities } from '../../records/identities.ts'
import { identitySignIns } from '../../records/identity-sign-ins.ts'
import { OPERATOR_RIGHT_US } from '../../sessions.ts'
import { draftSession } from '../accounts.ts'
import { sessionCookie } from '../session-cookie.ts'
import { CALLBACK_PATH } from './discovery.ts'
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

/** A provider's clock may be behind by this much. */
const CLOCKS_DIFFER_US = MINUTE_US

/** Why a browser that came back has nothing done. */
export type Refusal = Unfinished | SignInRefusal | SessionRefusal

/** What came of a browser's return. `cookies` are lines for `Set-Cookie`. */
export interface Finished {
  /** Null if the flow is not this browser's. */
  flow: Pick<Flow, 'purpose' | 'next'> | null
  outcome: 'done' | Refusal
  /** Whom the provider named. Null if it named no user. */
  identity: Identity | null
  /** The user whose account a refusal is about. Null if there is none. */
  userId: string | null
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
      const nothing = { identity: null, userId: null, cookies: [] }
      const flow = flows.read(line)
      // Another tab may have begun the cookie's sign-in, and can still finish it.
      if (flow === null || !isAnswerTo(flow, query, now()))
        return { ...nothing, flow: null, outcome: 'outdated' }
      const removed = { ...nothing, flow, cookies: [flows.remove()] }
      const isSignIn = flow.purpose === 'sign-in'
      if (!isSignIn && current?.id !== flow.sessionId)
        return { ...removed, outcome: 'session ended' }
      const arrived = await provider.finish(query, flow)
      if (typeof arrived === 'string') return { ...removed, outcome: arrived }
      const { refusal, userId, cookies } = await act(arrived, flow, isSignIn ? null : current)
      return {
        flow,
        outcome: refusal ?? 'done',
        identity: arrived.user,
        userId,
        cookies: [...removed.cookies, ...cookies],
      }

      function act(person: Arrived, begun: Flow, session: Session | null): Promise<Acted> {
        if (session === null) return acts.signIn(person, browser)
        if (begun.purpose === 'connect') return acts.connect(person, session, browser)
        return acts.confirm(person, begun, session, browser)
      }
    },
  }
}

/** What a browser came back for, done in the store. */
function createActs(database: Database, { signUp, dashboardUrl, operators, now }: OidcOptions) {
  const cookie = sessionCookie(dashboardUrl)
  const records = identitySignIns(database)

  async function signIn({ user }: Arrived, browser: Browser): Promise<Acted> {
    const { draft, token } = draftFor(user, browser)
    const rules = { signUp, reserved: operators }
    const outcome = await records.signIn(user, draft, rules)
    return { ...outcome, cookies: outcome.refusal === null ? [cookie.set(token)] : [] }
  }

  /** The same for a session that takes the place of this one. */
  async function confirm(
    { user, authenticatedAt, asksAgain }: Arrived,
    { startedAt }: Flow,
    current: Session,
    browser: Browser,
  ): Promise<Acted> {
    const { userId } = current
    const wasAsked =
      authenticatedAt === null ? asksAgain : authenticatedAt >= startedAt - CLOCKS_DIFFER_US
    if (!wasAsked) return { userId, refusal: 'not asked again', cookies: [] }
    const { draft, token } = draftFor(user, browser)
    const action = authenticatedAt === null ? 'confirmed without auth_time' : 'confirmed'
    const isConfirmed = await records.confirm(current, user, draft, action)
    return isConfirmed
      ? { userId, refusal: null, cookies: [cookie.set(token)] }
      : { userId, refusal: 'another account', cookies: [] }
  }

  async function connect({ user }: Arrived, current: Session, browser: Browser): Promise<Acted> {
    const actor = { address: browser.address, at: now() }
    const outcome = await identities(database).connect(current, user, actor)
    const refusal = outcome === 'connected' ? null : outcome
    return { userId: current.userId, refusal, cookies: [] }
  }

  function draftFor({ isOperator }: ProvidedUser, browser: Browser) {
    const at = now()
    return draftSession(browser, at, isOperator ? at + OPERATOR_RIGHT_US : null)
  }

  return { signIn, confirm, connect }
}

/** Whose account an act was about, why nothing was done, if so, and new cookies. */
interface Acted {
  userId: string | null
  refusal: SignInRefusal | SessionRefusal | null
  cookies: readonly string[]
}

function isAnswerTo({ state, startedAt }: Flow, query: string, at: Instant): boolean {
  const [sent, ...others] = new URLSearchParams(query).getAll('state')
  return sent === state && others.length === 0 && at - startedAt < FLOW_LENGTH_US
}
