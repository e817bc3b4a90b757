import type { CustomFetchOptions, ServerMetadata } from 'openid-client'
import { quote, readAnswer } from '../../../model/text.ts'
import { faultOf, ProviderFault } from './provider-fault.ts'

/** The path of the redirect URI. */
export const CALLBACK_PATH = '/sign-in/oidc/callback'
/** For each request to the provider. */
export const TIMEOUT_SECONDS = 2

/** What each sign-in needs. The keys of the provider are not: TLS protects the ID token. */
const NEEDED = ['authorization_endpoint', 'token_endpoint'] as const

/** What a provider says about itself. The issuer and what is NEEDED are checked. */
export type Metadata = ServerMetadata

export interface Discovery {
  metadata: Metadata
  /** The provider's clock as its answer has it, in milliseconds. NaN without one. */
  clock: number
}

/** Asks the provider about itself. Throws ProviderFault. */
export async function discover(client: { issuer: string; clientId: string }): Promise<Discovery> {
  const { issuer } = client
  // An operator may have set the address of the document itself. The answer has the issuer.
  const url = issuer.includes('/.well-known/')
    ? issuer
    : `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  try {
    const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1_000)
    const answer = await fetchBounded(url, { method: 'GET', redirect: 'manual', signal })
    if (answer.status !== 200)
      throw new ProviderFault(
        `cannot sign users in with ${issuer}: ${url} answers ${answer.status}`,
      )
    const metadata = (await answer.json().catch(() => {
      throw new ProviderFault(
        `cannot sign users in with ${issuer}: ${url} does not answer with JSON`,
      )
    })) as Metadata | null
    if (metadata?.issuer !== issuer)
      throw new ProviderFault(
        `the provider at ${issuer} calls itself ${quote(metadata?.issuer)}: set OIDC_ISSUER to that`,
        'settings',
      )
    const missing = NEEDED.filter((name) => typeof metadata[name] !== 'string')
    if (missing.length > 0)
      throw new ProviderFault(
        `${issuer} describes itself without ${missing.join(' and ')}: set OIDC_ISSUER to a ` +
          'provider with the authorization code flow of OpenID Connect',
        'settings',
      )
    return { metadata, clock: Date.parse(answer.headers.get('date') ?? '') }
  } catch (error) {
    throw faultOf(error, client)
  }
}

/** The values that the provider lists under this name. Undefined if it lists none. */
export function listed(metadata: Metadata, name: string): readonly unknown[] | undefined {
  const values = metadata[name]
  return Array.isArray(values) ? values : undefined
}

/** The scopes to ask for. Some providers have the groups in the profile. */
export function wantedScopes(needsGroups: boolean): string[] {
  return needsGroups ? ['openid', 'email', 'profile', 'groups'] : ['openid', 'email']
}

/** Whether the provider asks for a password again if it is told to. */
export function promptsLogin(metadata: Metadata): boolean {
  return listed(metadata, 'prompt_values_supported')?.includes('login') ?? true
}

/** `fetch` that reads the whole answer, and fails beyond one MB. */
export async function fetchBounded(
  url: string,
  init: Pick<CustomFetchOptions, 'method' | 'redirect'> & Partial<CustomFetchOptions>,
): Promise<Response> {
  const { status, headers, body } = await fetch(url, init as RequestInit)
  const bytes = body === null ? Buffer.of() : await readAnswer(body)
  if (bytes === null)
    throw Object.assign(new Error('the answer is too long'), { code: 'MORE_THAN_1_MB' })
  // An answer such as a 204 can't have a body, not even an empty one.
  return new Response(bytes.length === 0 ? null : bytes, { status, headers })
}
