import type { Outcome } from '../client/outcome.ts'
import { type Head, isFramed, membersOf, readHead, TARGET_MAX } from './read-head.ts'

/** The expected result of a connection that sends a text and then closes its side. */
export interface Expected {
  answers: Outcome[]
  /** True if the last answer must say `close`. */
  closes: boolean
}

/**
 * Reads a connection as a service without bodies must. `key` is valid and was used within this
 * second.
 */
export function readConnection(text: string, key: string): Expected {
  const answers: Outcome[] = []
  for (let at = 0; ; ) {
    const head = readHead(text, at)
    if (head === null) return { answers, closes: false }
    if (typeof head === 'number') return { answers: [...answers, head], closes: true }
    const flaw = flawOf(head)
    answers.push(outcomeOf(head, flaw, key))
    if (flaw !== null || isLast(head)) return { answers, closes: true }
    at = head.end
  }
}

function flawOf(head: Head): 400 | 414 | 431 | 505 | null {
  const { target, version, fields } = head
  if (!isFramed(head)) return 400
  if (version === '2.0') return 505
  if (target.length > TARGET_MAX) return 414
  const lines = [...fields].flatMap(([name, values]) => values.map((value) => name + value))
  if (lines.join('').length > 8_192) return 431
  const hosts = fields.get('host') ?? []
  if (hosts.length > 1 || (hosts.length === 0 && version === '1.1')) return 400
  return hosts.every(isHost) ? null : 400
}

/** RFC 3986, 3.2.2 and 3.2.3, without checks inside brackets and after percent signs. */
function isHost(host: string): boolean {
  const name = host.replace(/:[0-9]*$/, '')
  if (name.startsWith('[')) return /^\[[0-9A-Za-z:.]+\]$/.test(name)
  return [...name].every((character) => /[0-9A-Za-z._~!$&'()*+,;=%-]/.test(character))
}

function outcomeOf(head: Head, flaw: 400 | 414 | 431 | 505 | null, key: string): Outcome {
  const { method, fields } = head
  if (method === 'HEAD') return `head ${flaw ?? 404}`
  if (flaw !== null) return flaw
  if (method === 'OPTIONS') return 204
  const path = pathOf(head.target)
  if (method !== 'GET') return 404
  if (path === '/' || path === '/health') return 'health'
  if (path !== '/v1/servers') return 404
  const [value = '', ...others] = fields.get('authorization') ?? []
  const isGood = others.length === 0 && /^bearer /i.test(value) && value.slice(7) === key
  return isGood ? 429 : 401
}

function pathOf(target: string): string {
  const [, rest = target] = /^https?:\/\/[^/?]*(.*)$/i.exec(target) ?? []
  const [path = ''] = rest.split('?')
  return path === '' ? '/' : path
}

/** RFC 9112, 9.3. Also closes before a body or another protocol. */
function isLast({ version, fields }: Head): boolean {
  const options = membersOf(fields, 'connection')
  if (options.includes('close')) return true
  if (version === '1.0' && !options.includes('keep-alive')) return true
  if (fields.has('upgrade') || fields.has('transfer-encoding')) return true
  if ((fields.get('content-length') ?? []).some((length) => Number(length) > 0)) return true
  return version === '1.1' && awaitsContinue(fields.get('expect') ?? [])
}

function awaitsContinue(expectations: readonly string[]): boolean {
  return expectations.some((value) => /(?:^|\W)100-continue(?:$|\W)/i.test(value))
}
