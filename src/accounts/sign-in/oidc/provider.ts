import type * as OpenidClient from 'openid-client'
import { HOUR_US, type Instant, presentInstant } from '../../../model/instant.ts'
import { type ProvidedUser, readClaims } from '../../identity.ts'
import { authenticate } from './client-authentication.ts'
import type { Flow } from './flow-cookie.ts'
import {
  CLOCK_TOLERANCE_SECONDS,
  clockFault,
  codeOf,
  faultOf,
  ProviderFault,
} from './provider-fault.ts'

export interface ProviderOptions {
  issuer: string
  clientId: string
  clientSecret: string
  /** Null if no group makes operators. */
  operatorGroup: string | null
  redirectUri: string
  now(): Instant
}

/** What the browser needs for the way to the provider and back. */
export type Begun = Pick<Flow, 'state' | 'nonce' | 'verifier'> & { url: string }

/** Who came back from the provider, and when the provider asked for a password or the like. */
export interface Arrived {
  user: ProvidedUser
  /** Null if the provider does not say. */
  authenticatedAt: Instant | null
}

/** `refused`: the user or the provider said no. `outdated`: the answer is not for this browser. */
export type Unfinished = 'refused' | 'outdated'

/** How long the provider's description of itself is kept. */
const DISCOVERY_KEPT_US = HOUR_US
/** For each request to the provider. */
const TIMEOUT_SECONDS = 2

interface Discovered {
  library: typeof OpenidClient
  config: OpenidClient.Configuration
  at: Instant
}

/** The identity provider. The first use loads the library and asks the provider about itself. */
export function createProvider(options: ProviderOptions) {
  const { issuer, operatorGroup, redirectUri, now } = options
  let discovering: Promise<Discovered> | null = null

  async function discovered(): Promise<Discovered> {
    const known = await discovering?.catch(() => null)
    if (known && now() - known.at < DISCOVERY_KEPT_US) return known
    discovering = discover(options)
    return discovering
  }

  return {
    /** Throws ProviderFault. `asksAgain` makes the provider ask for a password or the like. */
    async begin(asksAgain: boolean): Promise<Begun> {
      const { library, config } = await discovered()
      const verifier = library.randomPKCECodeVerifier()
      const [state, nonce] = [library.randomState(), library.randomNonce()]
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopeOf(config.serverMetadata(), operatorGroup !== null),
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        ...(asksAgain ? { prompt: 'login', max_age: '0' } : {}),
      })
      return { url: url.href, state, nonce, verifier }
    },

    /** Finishes with the query of the provider's answer. Throws ProviderFault. */
    async finish(query: string, flow: Flow): Promise<Arrived | Unfinished> {
      const { library, config } = await discovered()
      try {
        const tokens = await library.authorizationCodeGrant(config, new URL(redirectUri + query), {
          pkceCodeVerifier: flow.verifier,
          expectedState: flow.state,
          expectedNonce: flow.nonce,
          idTokenExpected: true,
        })
        const claims = tokens.claims()!
        // The library refuses a token from the past only.
        if (claims.iat > now() / 1_000_000 + CLOCK_TOLERANCE_SECONDS)
          throw clockFault(issuer, now() / 1_000_000, claims.iat)
        const userInfo = config.serverMetadata().userinfo_endpoint
          ? await library.fetchUserInfo(config, tokens.access_token, claims.sub)
          : {}
        const user = readClaims(issuer, claims, userInfo, operatorGroup)
        if (user === null) throw new ProviderFault(`${issuer} sent a subject that names no user`)
        const { auth_time: seconds } = claims
        return { user, authenticatedAt: seconds === undefined ? null : seconds * 1_000_000 }
      } catch (error) {
        return unfinished(library, error, options)
      }
    },
  }
}

/** Providers refuse a scope that they don't know. Some have the groups in the profile. */
function scopeOf(
  { scopes_supported: supported }: OpenidClient.ServerMetadata,
  needsGroups: boolean,
): string {
  const wanted = needsGroups ? ['email', 'profile', 'groups'] : ['email']
  const known = wanted.filter((one) => supported?.includes(one) ?? one !== 'groups')
  return ['openid', ...known].join(' ')
}

async function discover(options: ProviderOptions): Promise<Discovered> {
  const { issuer, clientId, clientSecret, now } = options
  const library = await import('openid-client')
  const [at, skew] = [now(), Math.round((now() - presentInstant()) / 1_000_000)]
  try {
    const config = await library.discovery(
      new URL(issuer),
      clientId,
      { [library.clockSkew]: skew, [library.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authenticate(clientSecret),
      {
        timeout: TIMEOUT_SECONDS,
        // The configuration allows http on loopback only.
        execute: issuer.startsWith('http:') ? [library.allowInsecureRequests] : [],
      },
    )
    const { issuer: named } = config.serverMetadata()
    if (named !== issuer)
      throw new ProviderFault(
        `the provider at ${issuer} calls itself ${named}: set OIDC_ISSUER to that`,
        'settings',
      )
    return { library, config, at }
  } catch (error) {
    throw faultOf(error, options)
  }
}

/** What an error of the library means. It may hold a code or a token, so it goes no further. */
function unfinished(
  library: typeof OpenidClient,
  error: unknown,
  options: ProviderOptions,
): Unfinished {
  if (error instanceof library.AuthorizationResponseError) {
    if (error.error === 'access_denied') return 'refused'
    throw faultOf(error, options)
  }
  // The code is used up or expired, or was made for another verifier.
  if (error instanceof library.ResponseBodyError && error.error === 'invalid_grant')
    return 'outdated'
  // Another state, nonce or issuer than this browser's.
  if (codeOf(error) === 'OAUTH_INVALID_RESPONSE' || codeOf(error) === CLAIM_FAILED)
    return 'outdated'
  throw faultOf(error, options)
}

const CLAIM_FAILED = 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'
