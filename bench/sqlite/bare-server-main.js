import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, get } from 'node:http'
import { text } from 'node:stream/consumers'

/*
 * A node:http server that sends an answer of the service from memory, which shows the cost of
 * node:http alone. Both must send the same bytes. Arguments: the service's PORT, KEY. Plain
 * JavaScript, because removing types takes memory.
 */

const ADDED_BY_NODE = ['Date', 'Connection', 'Keep-Alive']

const [servicePort, key] = process.argv.slice(2)
const wanted = await fetchAnswer(Number(servicePort))
assert.equal(wanted.status, 200, `the service does not answer 200: ${wanted.body}`)
const sent = wanted.headers.filter(([name]) => !ADDED_BY_NODE.includes(name)).flat()
const [, keepAlive = ''] = wanted.headers.find(([name]) => name === 'Keep-Alive') ?? []
const keepAliveTimeout = Number(/timeout=(\d+)/.exec(keepAlive)?.[1] ?? 5) * 1000

const server = createServer({ keepAliveTimeout }, (_request, response) => {
  response.writeHead(wanted.status, sent)
  response.end(wanted.body)
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const { port } = server.address()
const own = await fetchAnswer(port)
assert.deepEqual(withoutDate(own), withoutDate(wanted), 'the servers do not send the same bytes')
console.log(`listening on http://127.0.0.1:${port}`)

async function fetchAnswer(port) {
  const agent = new Agent({ keepAlive: true })
  const headers = { Authorization: `Bearer ${key}` }
  const request = get({ host: '127.0.0.1', port, path: '/v1/servers', agent, headers })
  const [response] = await once(request, 'response')
  const body = await text(response)
  agent.destroy()
  const { statusCode: status = 0, rawHeaders } = response
  const pairs = rawHeaders.map((name, at) => [name, rawHeaders[at + 1] ?? ''])
  return { status, headers: pairs.filter((_, at) => at % 2 === 0), body }
}

function withoutDate({ headers, ...rest }) {
  return { ...rest, headers: headers.map(([name, value]) => [name, name === 'Date' ? '' : value]) }
}
