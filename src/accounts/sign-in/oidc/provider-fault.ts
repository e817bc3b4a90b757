/** `answer`: the provider does not answer as it must, and waiting may help. */
type Reason = 'answer' | 'settings'

/** No user can sign in now. The message is for the operator and has no secret. */
export class ProviderFault extends Error {
  override name = 'ProviderFault'
  readonly reason: Reason

  constructor(message: string, reason: Reason = 'answer') {
    super(message)
    this.reason = reason
  }
}

/** How much the clocks of both machines may differ. */
export const CLOCK_TOLERANCE_SECONDS = 60

const CLOCK_FAILED = 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED'
const CHALLENGE = 'OAUTH_WWW_AUTHENTICATE_CHALLENGE'

/** What an error of the library has, as far as its kind has it. */
interface LibraryError extends Error {
  error?: unknown
  cause?: unknown
}

/** The fault behind an error of the library. */
export function faultOf(
  thrown: unknown,
  { issuer, clientId }: { issuer: string; clientId: string },
): ProviderFault {
  if (thrown instanceof ProviderFault) return thrown
  const { name, error, cause } = thrown as LibraryError
  if (codeOf(thrown) === CLOCK_FAILED) {
    // The library's error has the one that found the difference, which has both times.
    const { cause: found } = cause as { cause?: { now: number; claims: { iat: number } } }
    return clockFault(issuer, found?.now, found?.claims.iat)
  }
  if (error === 'invalid_client' || (codeOf(thrown) === CHALLENGE && asksForSecret(cause)))
    return new ProviderFault(
      `${issuer} does not accept the secret of the client ${clientId}: set OIDC_CLIENT_ID and ` +
        'OIDC_CLIENT_SECRET_FILE to what it has',
      'settings',
    )
  // A provider's error code has no spaces. Anything else could be a text of its own.
  const codes = [codeOf(thrown), error, codeOf(cause)].filter(
    (one) => typeof one === 'string' && /^\w{1,60}$/.test(one),
  )
  const reason = [...new Set(codes)].join(' ')
  return new ProviderFault(`cannot sign users in with ${issuer}: ${reason || name}`)
}

/** Whether the challenge is for the client's secret. For a token its scheme is Bearer. */
function asksForSecret(challenges: unknown): boolean {
  return (challenges as { scheme: string }[]).some(({ scheme }) => scheme === 'basic')
}

export function clockFault(issuer: string, here: number | undefined, there: number | undefined) {
  return new ProviderFault(
    `cannot sign users in with ${issuer}: its clock differs by more than ` +
      `${CLOCK_TOLERANCE_SECONDS} seconds. Here it is ${say(here)}, and there ${say(there)}`,
  )
}

const say = (seconds = 0) => `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`

export function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}
