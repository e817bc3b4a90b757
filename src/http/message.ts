/** The parts of a request that an answer can depend on. The body is never read. */
export interface Request {
  method: string
  /**
   * The target up to its `?`, byte for byte. An absolute-form target loses scheme and authority.
   */
  path: string
  /** The value of the Host line; empty without one. */
  host: string
  /** The value of the Authorization line; null without one, or with several. */
  authorization: string | null
}

/** An answer, ready for the wire. */
export interface Response {
  status: number
  /** The status line and header lines, see `renderHead`. The front adds the others. */
  head: Buffer
  body: Buffer
  /** The route's name in events and logs. */
  route: string
  apiKeyId: string | null
}

/** Statuses for invalid requests. */
export type Refusal = 400 | 404 | 408 | 414 | 431 | 505

/** What the front reports to the application. */
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

/** Decides the answers. The front knows no route and no error text. */
export interface Application {
  /**
   * Answers every request and never throws. `startedAt` is when its head was complete, by
   * `performance.now()`.
   */
  answer(request: Request, startedAt: number): Response | Promise<Response>
  refuse(status: Refusal): Response
  observe(event: HttpEvent): void
}
