import { readFileSync } from 'node:fs'
import type { Load } from './programs.ts'

const HEALTH = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'

/** Returns the next request at each call: one key of the file after the other. */
export function textsOf({ port, keysPath, from }: Load) {
  if (keysPath === null) return () => HEALTH
  const texts = readFileSync(keysPath, 'utf8')
    .trimEnd()
    .split('\n')
    .map((key) => requestText(port, key))
  let next = from
  return () => {
    next = (next + 1) % texts.length
    return texts[next]!
  }
}

/** The request that every load generator sends. */
export function requestText(port: number, key: string): string {
  return `GET /v1/servers HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n\r\n`
}
