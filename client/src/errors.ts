interface Details {
  status?: number
  /** True if the same request may succeed later without any change. */
  isTransient?: boolean
  retryAfterMs?: number
  requestId?: string | null
  cause?: unknown
}

/**
 * What every request can fail with. The message says what was asked, what came back and what to do.
 * No error has the API key in it.
 */
export class ServerListingError extends Error {
  override readonly name: string = 'ServerListingError'
  /** The HTTP status of the answer, or null if there was none. */
  readonly status: number | null
  /**
   * True for a failure that can pass by itself. The client has then tried as often as `maxTries`
   * allows.
   */
  readonly isTransient: boolean
  /** How long the service asked to wait, in milliseconds. 0 if it did not say. */
  readonly retryAfterMs: number
  /** The header `X-Request-Id`, with which the operator finds the reason in the log, or null. */
  readonly requestId: string | null

  constructor(message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.status = details.status ?? null
    this.isTransient = details.isTransient ?? false
    this.retryAfterMs = details.retryAfterMs ?? 0
    this.requestId = details.requestId ?? null
  }
}

/** 401: the API key is unknown or revoked (spec 7.2). Issue a new key. */
export class UnauthorizedError extends ServerListingError {
  override readonly name = 'UnauthorizedError'
}

/** 404: there is no listing API at this address (spec 7.2). Check `baseUrl`. */
export class NotFoundError extends ServerListingError {
  override readonly name = 'NotFoundError'
}

/** 429 on each try: other programs use the same key (spec 8). Give each program its own key. */
export class RateLimitedError extends ServerListingError {
  override readonly name = 'RateLimitedError'
}

/**
 * 502, 503 or 504 on each try: the service or a proxy in front of it fails (spec 7.2). Try again
 * later. If it lasts, give `requestId` to the operator.
 */
export class ServiceError extends ServerListingError {
  override readonly name = 'ServiceError'
}

/** A redirect. The client never follows one, because it would send the key to another address. */
export class RedirectError extends ServerListingError {
  override readonly name = 'RedirectError'
}

/** A status that the API never sends, for example from a proxy. Check `baseUrl`. */
export class UnexpectedStatusError extends ServerListingError {
  override readonly name = 'UnexpectedStatusError'
}

/** A 200 whose body is not a listing (spec 4.1), or is larger than 4 MiB. Check `baseUrl`. */
export class InvalidAnswerError extends ServerListingError {
  override readonly name = 'InvalidAnswerError'
}

/**
 * No complete answer on any try. `cause` is the error of the runtime. Not transient if the
 * certificate or `baseUrl` is wrong: the message then says what to change.
 */
export class ConnectionError extends ServerListingError {
  override readonly name = 'ConnectionError'
}

/** No complete answer within `timeoutMs` on any try. */
export class RequestTimeoutError extends ServerListingError {
  override readonly name = 'RequestTimeoutError'
}

/** `apiKeyFile` can't be read, or does not contain one API key. The client sent no request. */
export class KeyFileError extends ServerListingError {
  override readonly name = 'KeyFileError'
}
