import { ConnectionError, RequestTimeoutError } from './errors.ts'

/** A request without a complete answer. */
interface Failed {
  url: string
  /** True if a request to this URL got an answer before, so its host name is right. */
  hasAnswered: boolean
}

const PROXY_ADVICE =
  'If only a proxy reaches the API, set HTTPS_PROXY and NODE_USE_ENV_PROXY=1 before Node.js starts.'

/** Failures that only a change of the URL, the certificate or this machine ends, by their code. */
const FINAL: readonly [code: RegExp, advice: string][] = [
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    'The certificate is not valid at this time. Check the clock of this machine, or tell the operator of the API.',
  ],
  [
    /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    'The certificate is for another host. Set baseUrl to a name that the certificate has.',
  ],
  [
    /^(?!ERR_SSL_).*(CERT|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)|INVALID_(CA|PURPOSE)|PATH_LENGTH)/,
    'This program does not trust the certificate. If the API or a proxy has a CA of its own, set NODE_EXTRA_CA_CERTS to the PEM file of that CA before Node.js starts.',
  ],
  [
    /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    'There is no TLS at this port. Check the scheme and the port of baseUrl.',
  ],
  [
    /^bad port$/,
    'fetch opens no connection to this port, because another protocol owns it. Give the API another port.',
  ],
]

/** Failures before the connection stands. */
const NO_CONNECTION =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** The error for what `fetch` or the body threw. */
export function connectionError({ url, hasAnswered }: Failed, cause: unknown): ConnectionError {
  const code = codeOf(cause)
  const failed = `GET ${url} got no complete answer${code === '' ? '' : ` (${code})`}.`
  const final = FINAL.find(([codes]) => codes.test(code))
  if (final !== undefined) return new ConnectionError(`${failed} ${final[1]}`, { cause })
  // A resolver that fails for a moment may say the same of a name that it resolved before.
  if (code === 'ENOTFOUND' && !hasAnswered)
    return new ConnectionError(
      `${failed} This network does not know the host. Check the host name of baseUrl. ${PROXY_ADVICE}`,
      { cause },
    )
  const advice = NO_CONNECTION.test(code) && !hasAnswered ? ` ${PROXY_ADVICE}` : ''
  return new ConnectionError(`${failed} Check baseUrl and the network, then try again.${advice}`, {
    isTransient: true,
    cause,
  })
}

export function timeoutError({ url, hasAnswered }: Failed, timeoutMs: number): RequestTimeoutError {
  const advice = hasAnswered ? '' : ` ${PROXY_ADVICE}`
  return new RequestTimeoutError(
    `GET ${url} got no complete answer within ${timeoutMs} ms. Try again later, or raise timeoutMs.${advice}`,
    { isTransient: true },
  )
}

/** The first code in a chain of causes. For a port that `fetch` refuses, its message. */
function codeOf(error: unknown): string {
  let each = error as { code?: unknown; message?: unknown; cause?: unknown } | null | undefined
  // Not `instanceof Error`, which is false for errors of another realm, such as a test runner's.
  for (let depth = 0; depth < 5 && typeof each === 'object' && each !== null; depth += 1) {
    if (typeof each.code === 'string') return each.code
    if (each.message === 'bad port') return each.message
    each = each.cause as typeof each
  }
  return ''
}
