import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { healthy, refusal } from '../../../src/api/responses.ts'
import { LIMITS } from '../../../src/http/limits.ts'
import { listen } from '../../../src/http/listen.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { hosted } from '../corpus/case.ts'
import { once } from '../../fixtures/within.ts'

/* One client can't take all connections of a listener. */

const MAX = 40
const SHARE = MAX / 4
const LAST_REQUEST = hosted('GET / HTTP/1.1', 'Connection: close')

/** Here the addresses of this machine stand for those of others. `127.0.0.9` is a proxy. */
async function start(t: TestContext) {
  const refused: string[] = []
  const listener = await listen(
    { answer: () => healthy, refuse: refusal, observe: () => {} },
    '127.0.0.1',
    0,
    { ...LIMITS, connectionsMax: MAX, lingerMs: 200, drainGraceMs: 50, drainMs: 200 },
    {
      peers: {
        readPeer: (address) => (address === '127.0.0.9' ? null : address),
        onRefused: (peer) => refused.push(peer),
      },
    },
  )
  t.after(listener.close)

  async function open(localAddress: string): Promise<Socket> {
    const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress })
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  return {
    refused,
    open,
    async answers(localAddress: string): Promise<boolean> {
      const socket = await open(localAddress)
      socket.write(LAST_REQUEST)
      return (await text(socket).catch(() => '')).startsWith('HTTP/1.1 200 ')
    },
  }
}

test('an address has a quarter of the connections, and the others are for other addresses', async (t) => {
  const { refused, open, answers } = await start(t)
  const held: Socket[] = []
  for (let count = 0; count < SHARE; count += 1) held.push(await open('127.0.0.2'))
  assert.equal(await answers('127.0.0.2'), false)
  assert.equal(await answers('127.0.0.2'), false)
  assert.deepEqual(refused, ['127.0.0.2', '127.0.0.2'])
  assert.equal(await answers('127.0.0.3'), true)

  // Those that are open go on, and one that closes makes room.
  held[0]!.write(LAST_REQUEST)
  assert.match(await text(held[0]!), /^HTTP\/1\.1 200 /)
  await eventually(() => answers('127.0.0.2'))
})

test('a peer without a limit may have all connections', async (t) => {
  const { refused, open, answers } = await start(t)
  for (let count = 0; count < MAX - 1; count += 1) await open('127.0.0.9')
  assert.equal(await answers('127.0.0.9'), true)
  assert.deepEqual(refused, [])
})

test('a listener that closes the oldest connection beyond its maximum answers the newest one', async (t) => {
  const listener = await listen(
    { answer: () => healthy, refuse: refusal, observe: () => {} },
    '127.0.0.1',
    0,
    { ...LIMITS, connectionsMax: 3, closedBeyond: 'oldest', drainGraceMs: 50, drainMs: 200 },
  )
  t.after(listener.close)
  const ended: number[] = []
  for (let index = 0; index < 5; index += 1) {
    const socket = connect({ port: listener.port, host: '127.0.0.1' })
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', () => ended.push(index))
    socket.write(hosted('GET / HTTP/1.1'))
    await once(socket, 'data')
  }
  await eventually(async () => ended.length === 2)
  assert.deepEqual(ended, [0, 1])
})

test('a listener that closes the oldest connection lets a request under way have its answer, unless each connection has one', async (t) => {
  const answers: (() => void)[] = []
  const answer = () =>
    new Promise<typeof healthy>((resolve) => answers.push(() => resolve(healthy)))
  const listener = await listen({ answer, refuse: refusal, observe: () => {} }, '127.0.0.1', 0, {
    ...LIMITS,
    connectionsMax: 3,
    closedBeyond: 'oldest',
    drainGraceMs: 50,
    drainMs: 200,
  })
  t.after(listener.close)
  const ended: string[] = []
  const open = async (name: string) => {
    const socket = connect({ port: listener.port, host: '127.0.0.1' })
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', () => ended.push(name))
    await once(socket, 'connect')
    return socket
  }
  const ask = async (socket: Socket) => {
    const asked = answers.length
    socket.write(hosted('GET / HTTP/1.1'))
    await eventually(async () => answers.length > asked)
  }

  const first = await open('first')
  await ask(first)
  await open('idle')
  const third = await open('third')
  await ask(third)
  const fourth = await open('fourth')
  await eventually(async () => ended.length === 1)
  assert.deepEqual(ended, ['idle'])
  answers[0]!()
  const [answered] = (await once(first, 'data')) as [Buffer]
  assert.match(answered.toString(), /^HTTP\/1\.1 200 /)

  await ask(fourth)
  await ask(first)
  await open('fifth')
  await eventually(async () => ended.length === 2)
  assert.deepEqual(ended, ['idle', 'first'])
})
