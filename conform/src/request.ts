import type { Target } from './wire/target.ts'

/** A request in the making. */
export interface Request {
  /** GET by default. */
  method?: string
  /** Below the base address. */
  path: string
  /** Beside Host and Connection. */
  fields?: readonly string[]
  body?: string
  /** Whether the connection stays open behind the answer. False by default. */
  isKept?: boolean
}

export const LIST = '/v1/servers'

/** A request for the list with this value of the Authorization field. */
export function listWith(value: string, ...fields: string[]): Request {
  return { path: LIST, fields: [`Authorization: ${value}`, ...fields] }
}

/** The bytes of a request. */
export function write(target: Target, request: Request): { text: string; isHead: boolean } {
  const { method = 'GET', path, fields = [], body, isKept = false } = request
  const lines = [
    `${method} ${target.path}${path} HTTP/1.1`,
    `Host: ${target.authority}`,
    'Accept: application/json',
    `Connection: ${isKept ? 'keep-alive' : 'close'}`,
    ...fields,
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`]),
  ]
  return { text: `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`, isHead: method === 'HEAD' }
}
