import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { notConfigured, notFound, refusal } from '../api/responses.ts'
import { renderHead } from '../http/render.ts'

/** An answer as JSON. Errors have the form of the public API (spec 7.1). */
export interface Answer {
  status: number
  body: string | Uint8Array
  headers?: Record<string, string>
}

const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}

export const json = (value: object, status = 200): Answer => ({
  status,
  body: JSON.stringify(value),
})

export const refuse = (
  status: number,
  error: string,
  headers: Record<string, string> = {},
): Answer => ({ ...json({ error }, status), headers })

/** No such route, method or path, in the words of the public API. */
export const NOT_FOUND: Answer = { status: 404, body: notFound.body }

export const NOT_CONFIGURED: Answer = { status: 503, body: notConfigured.body }

export const UNAUTHORIZED = refuse(401, 'Invalid or missing token.', {
  'WWW-Authenticate': 'Bearer',
  // Reads no body of a program without a token.
  Connection: 'close',
})

export const UNAVAILABLE = refuse(
  503,
  'The management API is not available right now. Send the same request again in a moment.',
  { 'Retry-After': '5' },
)

export const MISDIRECTED = refuse(
  421,
  'On a loopback address, this listener answers only for IP addresses, localhost and ' +
    'MANAGEMENT_HOST. A proxy in front of it must send one of them as Host.',
  { Connection: 'close' },
)

export function send(outgoing: ServerResponse, { status, body, headers = {} }: Answer): void {
  const length = { 'Content-Length': String(Buffer.byteLength(body)) }
  outgoing.writeHead(status, { ...HEADERS, ...length, ...headers })
  outgoing.end(body)
}

const STATUSES: Record<string, 408 | 431> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
}

/** Answers what is no HTTP request, or did not arrive in time, and closes the connection. */
export function refuseBytes(error: Error, socket: Duplex): void {
  const { code = '' } = error as NodeJS.ErrnoException
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const status = STATUSES[code] ?? 400
  const { body } = refusal(status)
  const headers = { ...HEADERS, 'Content-Length': String(body.length), Connection: 'close' }
  socket.end(Buffer.concat([renderHead(status, Object.entries(headers).flat()), CRLF, body]))
}

const CRLF = Buffer.from('\r\n')
