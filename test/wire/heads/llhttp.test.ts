import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { readHead } from '../../../src/http/head.ts'
import { LIMITS } from '../../../src/http/limits.ts'
import { CORPUS } from '../corpus/corpus.ts'
import { CHUNKS, FRAMED } from '../generated/framings.ts'
import { ODD_FIELDS, ODD_LINES } from '../generated/odd-bytes.ts'
import { once } from '../../fixtures/within.ts'

/*
 * A plain node:http server reads the same texts. Its parser, llhttp, shares no code with ours. Our
 * reader may refuse more, with a reason. It never accepts a request that llhttp refuses.
 */

const VERSION = 'only HTTP/1.0 and 1.1 are supported (RFC 9110, 15.6.6)'
const HOSTS = 'a request has at most one Host (RFC 9112, 3.2)'
const HOST = 'a Host is a name or an address with an optional port (RFC 9110, 7.2)'
const SIZE = 'the limits of the service are lower (RFC 9110, 15.5.15; RFC 6585, 5)'
const CODING = 'the end of the message is not sure (RFC 9112, 6.1 and 6.3)'
const TWICE = 'Node.js takes the first Authorization line; two identify no client (RFC 9110, 5.3)'

/** The cases of the corpus that llhttp reads in another way, and why. */
const DIFFERENCES: Record<string, string> = {
  'versions: HTTP/0.9': VERSION,
  'versions: HTTP/0.9 by name': VERSION,
  'versions: HTTP/2.0': VERSION,
  'hosts: two Hosts': HOSTS,
  'hosts: the same Host twice': HOSTS,
  'hosts: two Hosts in HTTP/1.0': HOSTS,
  'hosts: a Host with a slash': HOST,
  'hosts: a Host with a space and an at': HOST,
  'hosts: two Hosts in one line': HOST,
  'hosts: a Host with two ports': HOST,
  'syntax: a key behind more fields than are read': SIZE,
  'syntax: a value of 9 kB': SIZE,
  'syntax: a name of 9 kB': SIZE,
  'syntax: a target of 9 kB': SIZE,
  'syntax: a target of 9 kB and more fields than are read': SIZE,
  'framing: chunks twice, a tab behind': CODING,
  'framing: chunks in HTTP/1.0': CODING,
  'framing: an unknown coding': CODING,
  'framing: nearly chunks': CODING,
  'framing: an unknown coding on GET': CODING,
  'framing: a coding within chunks': CODING,
  'framing: codings in two lines': CODING,
  'credentials: two lines': TWICE,
  'credentials: two lines, the first empty': TWICE,
}

test('llhttp reads every case of the corpus alike, but for a list with reasons', async (t) => {
  const readThere = await startPlainServer(t)
  const different: string[] = []
  for (const [subject, cases] of Object.entries(CORPUS))
    for (const { name, send } of cases)
      if (!isAlike(readHere(send), await readThere(send))) different.push(`${subject}: ${name}`)
  assert.deepEqual(different, Object.keys(DIFFERENCES))
})

test('llhttp accepts every generated request that the service accepts', async (t) => {
  const readThere = await startPlainServer(t)
  for (const text of [...ODD_FIELDS, ...ODD_LINES, ...FRAMED, ...CHUNKS]) {
    const { requests } = readHere(text)
    const others = await readThere(text)
    assert.deepEqual(requests, others.slice(0, requests.length), JSON.stringify(text))
  }
})

interface Reading {
  /** The accepted requests. */
  requests: string[]
  /** True if the last of them ends the reading. Other readers may find more. */
  isOver: boolean
}

function readHere(text: string): Reading {
  const requests: string[] = []
  for (let at = 0; ; ) {
    const head = readHead(text, at, LIMITS)
    const isAccepted = head !== null && typeof head === 'object' && head.flaw === null
    if (!isAccepted) return { requests, isOver: false }
    requests.push(described(head.method, head.authorization))
    if (head.isLast) return { requests, isOver: true }
    at = head.end
  }
}

function isAlike({ requests, isOver }: Reading, others: readonly string[]): boolean {
  const compared = isOver ? others.slice(0, requests.length) : others
  return JSON.stringify(requests) === JSON.stringify(compared)
}

function described(method: string, authorization: string | null): string {
  return `${method} ${authorization}`
}

/** Returns a function that sends a text and lists the requests that the server accepts. */
async function startPlainServer(t: TestContext): Promise<(text: string) => Promise<string[]>> {
  let requests: string[] = []
  const accept = ({ method, headers }: IncomingMessage, response: ServerResponse) => {
    requests.push(described(method!, headers.authorization ?? null))
    response.end()
  }
  const server = createServer(accept)
  server.on('checkExpectation', accept)
  server.maxHeadersCount = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return async (text) => {
    requests = []
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {})
    socket.end(text, 'latin1')
    socket.resume()
    await once(socket, 'close')
    return requests
  }
}
