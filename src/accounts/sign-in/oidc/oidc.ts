import { type Instant, MINUTE_US } from '../../../model/instant.ts'
import type { Browser, Session } from '../../../model/session.ts'
import type { Database } from '../../../database/database.ts'
import type { Identity, SessionRefusal, SignInRefusal } from '../../identity.ts'
import { identities } from '../../records/identities.ts'
import { identitySignIns } from '../../records/identity-sign-ins.ts'
import { type DraftSession, OPERATOR_RIGHT_US } from '../../sessions.ts'
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
  const cookie = sessionCookie(dashboardUrl)
  const act = createAct(database, options)

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
      const line = flows.set({ purpose, sessionId, next, startedAt: now(), ...secrets })
      return { url, cookie: line }
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
      const at = now()
      const right = arrived.user.isOperator ? at + OPERATOR_RIGHT_US : null
      const { draft, token } = draftSession(browser, at, right)
      const { refusal, userId } = await act(arrived, flow, isSignIn ? null : current, draft)
      const cookies = refusal === null && flow.purpose !== 'connect' ? [cookie.set(token)] : []
      return {
        flow,
        outcome: refusal ?? 'done',
        identity: arrived.user,
        userId,
        cookies: [...removed.cookies, ...cookies],
      }
    },
  }
}

/** What a browser came back for, done in the store. */
function createAct(database: Database, { signUp, operators }: OidcOptions) {
  const records = identitySignIns(database)
  /** `draft` is the session that the browser may get. */
  return async function act(
    { user, authenticatedAt, asksAgain }: Arrived,
    { purpose, startedAt }: Flow,
    current: Session | null,
    draft: DraftSession,
  ): Promise<Acted> {
    if (current === null) return records.signIn(user, draft, { signUp, reserved: operators })
    const { userId } = current
    if (purpose === 'connect') {
      const actor = { address: draft.address, at: draft.startedAt }
      const outcome = await identities(database).connect(current, user, actor)
      return { userId, refusal: outcome === 'connected' ? null : outcome }
    }
    const wasAsked =
      authenticatedAt === null ? asksAgain : authenticatedAt >= startedAt - CLOCKS_DIFFER_US
    if (!wasAsked) return { userId, refusal: 'not asked again' }
    const action = authenticatedAt === null ? 'confirmed without auth_time' : 'confirmed'
    const isConfirmed = await records.confirm(current, user, draft, action)
    return { userId, refusal: isConfirmed ? null : 'another account' }
  }
}

/** Whose account an act was about, and why nothing was done, if so. */
interface Acted {
  userId: string | null
  refusal: SignInRefusal | SessionRefusal | null
}

function isAnswerTo({ state, startedAt }: Flow, query: string, at: Instant): boolean {
  const [sent, ...others] = new URLSearchParams(query).getAll('state')
  return sent === state && others.length === 0 && at - startedAt < FLOW_LENGTH_US
}
