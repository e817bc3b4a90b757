import type * as OpenidClient from 'openid-client'
import { type Instant, presentInstant } from '../../../model/instant.ts'
import { type ProvidedUser, readClaims } from '../../identity.ts'
import { authenticate } from './client-authentication.ts'
import {
  discover,
  fetchBounded,
  listed,
  type Metadata,
  promptsLogin,
  TIMEOUT_SECONDS,
  wantedScopes,
} from './discovery.ts'
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
  /** Whether a provider that was told to ask again does so. */
  asksAgain: boolean
}

/**
 * `refused`: the user or the provider said no. `error`: the browser brought another error.
 * `outdated`: the answer is not for this browser.
 */
export type Unfinished = 'refused' | 'error' | 'outdated'

/** How long the provider's description of itself, or its failure, is kept. Sign-ins share it. */
const DISCOVERY_KEPT_US = 10_000_000

interface Discovered {
  library: typeof OpenidClient
  config: OpenidClient.Configuration
  metadata: Metadata
}

/**
 * Asks the provider about itself, at most once in DISCOVERY_KEPT_US. While it fails in one way,
 * throws one fault.
 */
function createDiscovery(options: ProviderOptions): () => Promise<Discovered> {
  const { now } = options
  let kept: { at: Instant; asked: Promise<Discovered> } | null = null
  let lasting: ProviderFault | null = null

  async function ask(): Promise<Discovered> {
    try {
      const discovered = await configure(options)
      lasting = null
      return discovered
    } catch (thrown) {
      const fault = faultOf(thrown, options)
      if (lasting?.message !== fault.message) lasting = fault
      throw lasting
    }
  }

  return () => {
    // The clock may have been set back.
    if (kept === null || Math.abs(now() - kept.at) >= DISCOVERY_KEPT_US)
      kept = { at: now(), asked: ask() }
    return kept.asked
  }
}

/** The identity provider. Each step asks it about itself, so that an outage ends on our page. */
export function createProvider(options: ProviderOptions) {
  const { issuer, operatorGroup, redirectUri, now } = options
  const discovered = createDiscovery(options)

  return {
    /** Throws ProviderFault. `asksAgain` makes the provider ask for a password or the like. */
    async begin(asksAgain: boolean): Promise<Begun> {
      const { library, config, metadata } = await discovered()
      const verifier = library.randomPKCECodeVerifier()
      const [state, nonce] = [library.randomState(), library.randomNonce()]
      const asked = {
        redirect_uri: redirectUri,
        scope: scopeOf(metadata, operatorGroup !== null),
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        ...(asksAgain && promptsLogin(metadata) ? { prompt: 'login' } : {}),
        ...(asksAgain ? { max_age: '0' } : {}),
      }
      try {
        return { url: library.buildAuthorizationUrl(config, asked).href, state, nonce, verifier }
      } catch (thrown) {
        throw faultOf(thrown, options)
      }
    },

    /** Finishes with the query of the provider's answer. Throws ProviderFault. */
    async finish(query: string, flow: Flow): Promise<Arrived | Unfinished> {
      const sent = new URLSearchParams(query)
      // Any visitor can type an error, so it is no diagnosis of the provider or the settings.
      if (sent.has('error')) return sent.get('error') === 'access_denied' ? 'refused' : 'error'
      const { library, config, metadata } = await discovered()
      const answer = answerOf(sent, metadata)
      if (answer === null) return 'outdated'
      const url = new URL(`${redirectUri}?${answer.toString()}`)
      try {
        const tokens = await library.authorizationCodeGrant(config, url, {
          pkceCodeVerifier: flow.verifier,
          expectedState: flow.state,
          expectedNonce: flow.nonce,
          idTokenExpected: true,
        })
        const claims = tokens.claims()!
        // The library refuses a token from the past only.
        if (claims.iat > now() / 1_000_000 + CLOCK_TOLERANCE_SECONDS)
          throw clockFault(issuer, now() / 1_000_000, claims.iat)
        const userInfo = metadata.userinfo_endpoint
          ? await library.fetchUserInfo(config, tokens.access_token, claims.sub)
          : {}
        const user = readClaims(issuer, claims, userInfo, operatorGroup)
        if (user === null) throw new ProviderFault(`${issuer} sent a subject that names no user`)
        const { auth_time: seconds } = claims
        const authenticatedAt = seconds === undefined ? null : seconds * 1_000_000
        return { user, authenticatedAt, asksAgain: promptsLogin(metadata) }
      } catch (thrown) {
        if (isOutdated(library, thrown)) return 'outdated'
        // The library's error may have a code or a token, so it goes no further.
        throw faultOf(thrown, options)
      }
    },
  }
}

/**
 * What the library needs of the query. Null if it is no answer of this provider, so that what the
 * library refuses then is the provider's.
 */
function answerOf(sent: URLSearchParams, metadata: Metadata): URLSearchParams | null {
  const [code, ...codes] = sent.getAll('code')
  const names = sent.getAll('iss')
  const needsName = metadata.authorization_response_iss_parameter_supported === true
  if (!code || codes.length > 0 || names.some((name) => name !== metadata.issuer)) return null
  if (names.length > 1 || (needsName && names.length === 0)) return null
  return new URLSearchParams([...sent].filter(([name]) => ['code', 'state', 'iss'].includes(name)))
}

/** Providers refuse a scope that they don't know. */
function scopeOf(metadata: Metadata, needsGroups: boolean): string {
  const supported = listed(metadata, 'scopes_supported')
  return wantedScopes(needsGroups)
    .filter((one) => one === 'openid' || (supported?.includes(one) ?? one !== 'groups'))
    .join(' ')
}

async function configure(options: ProviderOptions): Promise<Discovered> {
  const { issuer, clientId, clientSecret, now } = options
  const skew = Math.round((now() - presentInstant()) / 1_000_000)
  const { metadata } = await discover(options)
  const library = await import('openid-client')
  const config = new library.Configuration(
    metadata,
    clientId,
    { [library.clockSkew]: skew, [library.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    authenticate(clientSecret),
  )
  config.timeout = TIMEOUT_SECONDS
  config[library.customFetch] = fetchBounded
  // The configuration allows http on loopback only.
  if (issuer.startsWith('http:')) library.allowInsecureRequests(config)
  return { library, config, metadata }
}

/** Whether the code is used up or expired, or was made for another browser. */
function isOutdated(library: typeof OpenidClient, error: unknown): boolean {
  if (error instanceof library.ResponseBodyError) return error.error === 'invalid_grant'
  return codeOf(error) === 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' && claimOf(error) === 'nonce'
}

/** The claim in the error that the library's error has as its cause. */
function claimOf(error: unknown): unknown {
  const { cause } = error as { cause?: { cause?: { claim?: unknown } } }
  return cause?.cause?.claim
}
