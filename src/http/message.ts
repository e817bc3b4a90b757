/** A request, as far as any answer depends on it. Its body is never read. */
export interface Request {
  method: string
  /** The target up to its `?`, byte for byte as it was sent; an absolute-form target without scheme and authority. */
  path: string
  /** The value of the one Authorization line; null where there is none, or more than one, which name no caller. */
  authorization: string | null
}

/** An answer, ready for the wire. */
export interface Response {
  status: number
  /** Names and values in turn. */
  headers: readonly string[]
  /** Bytes, as a string with one character for each. */
  body: string
  /** What the answer is counted under. */
  route: string
  apiKeyId: string | null
}

/** Statuses for bytes that are no request anyone could answer. */
export type Refusal = 400 | 404 | 408 | 414 | 431 | 505

/** What the front reports of its work. */
export type HttpEvent =
  | {
      kind: 'answered'
      method: string
      route: string
      status: number
      milliseconds: number
      apiKeyId: string | null
    }
  | { kind: 'refused'; status: Refusal }

/** What is to be answered; the front itself knows no route and no sentence. */
export interface Application {
  /** Answers every request, and never fails. */
  answer(request: Request): Response | Promise<Response>
  refuse(status: Refusal): Response
  observe(event: HttpEvent): void
}
