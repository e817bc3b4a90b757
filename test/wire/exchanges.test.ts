import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { renderHead } from '../../src/http/render.ts'
import { seedOfRun } from '../fixtures/random.ts'
import { hosted } from './corpus/case.ts'
import { type HeldFront, listenHeld, settled } from './client/held.ts'
import { open } from './client/raw.ts'

/*
 * A client sends requests in pieces of any size, and the application answers them in any order
 * between the pieces. A model of a connection says which answers arrive, and whether the last one
 * closes.
 */

const RUNS = 500
const PIPELINED_MAX = 4

const KINDS = ['GET', 'HEAD', 'close', 'body', 'no request'] as const
type Kind = (typeof KINDS)[number]

/** Pieces of input, each with the number of answers that the application gives after it. */
interface Plan {
  kinds: Kind[]
  /** Bytes that remain of a head when the client closes its side. */
  rest: number
  steps: { bytes: number; answers: number }[]
  isLastFirst: boolean
}

const kind = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Kind>('GET') },
  fc.constantFrom<Kind>(...KINDS),
)

const plans: fc.Arbitrary<Plan> = fc.record({
  kinds: fc.array(kind, { maxLength: 12 }),
  rest: fc.constantFrom(0, 0, 1, 20),
  steps: fc.array(fc.record({ bytes: fc.nat(200), answers: fc.nat(3) }), { maxLength: 12 }),
  isLastFirst: fc.boolean(),
})

test(`${RUNS} connections get each answer once, in order, and close when they should`, async (t) => {
  const seed = seedOfRun()
  t.diagnostic(`SEED=${seed}`)
  const front = await listenHeld(t, { pipelinedMax: PIPELINED_MAX })
  const property = fc.asyncProperty(plans, (plan) => follow(front, plan))
  await fc.assert(property, { seed, numRuns: RUNS })
})

function textOf(kind: Kind, index: number): string {
  if (kind === 'no request') return '\0'
  const line = `${kind === 'HEAD' ? 'HEAD' : 'GET'} /${index} HTTP/1.1`
  if (kind === 'close') return hosted(line, 'Connection: close')
  return kind === 'body' ? `${hosted(line, 'Content-Length: 2')}hi` : hosted(line)
}

async function follow(front: HeldFront, { kinds, rest, steps, isLastFirst }: Plan): Promise<void> {
  const texts = kinds.map(textOf)
  const text = texts.join('') + hosted('GET /rest HTTP/1.1').slice(0, rest)
  const model = modelOf(kinds, texts, rest > 0)
  const heads = kinds.flatMap((kind, index) => (kind === 'HEAD' ? [index] : []))
  const client = await open(front.port, heads)
  const before = front.held.length

  let sent = 0
  for (const { bytes, answers } of [...steps, { bytes: text.length, answers: 0 }]) {
    await client.sendInPieces(text.slice(sent, sent + bytes), text.length)
    sent = Math.min(text.length, sent + bytes)
    await settled()
    model.read(sent)
    for (let count = 0; count < answers; count += 1) await answerOne()
  }
  client.socket.end()
  await settled()
  model.end()
  while (model.open.length > 0) await answerOne()

  const received = await client.untilEnd()
  assert.deepEqual(
    received.map(({ status, headers, body }) => [headers.path ?? status, body.length]),
    model.answers.map((path) => [path, path === 400 ? 24 : heads.includes(Number(path)) ? 0 : 2]),
  )
  assert.equal(front.held.length - before, model.taken)
  const connections = received.map(({ headers }) => headers.connection)
  const closings = received.map((_, index) => index === received.length - 1 && model.isClosing)
  assert.deepEqual(
    connections,
    closings.map((isClosing) => (isClosing ? 'close' : 'keep-alive')),
  )

  async function answerOne(): Promise<void> {
    const index = isLastFirst ? model.open.at(-1) : model.open[0]
    if (index === undefined) return
    front.held[before + index]!.answer({
      status: 200,
      head: renderHead(200, ['Path', String(index)]),
      body: Buffer.from('ok'),
      route: 'unknown',
      apiKeyId: null,
    })
    await settled()
    model.answer(index)
  }
}

/** What a connection does, without sockets. */
function modelOf(kinds: readonly Kind[], texts: readonly string[], hasRest: boolean) {
  /** The index of each request whose answer is to come, or 400. */
  const answers: (string | 400)[] = []
  let end = 0
  const model = {
    answers,
    taken: 0,
    isClosing: false,
    /** The requests that the application has not answered. */
    open: [] as number[],

    read(sent: number) {
      while (!model.isClosing && model.taken < kinds.length) {
        const text = texts[model.taken]!
        const kind = kinds[model.taken]!
        // A body does not have to arrive.
        const size = kind === 'body' ? text.length - 2 : text.length
        if (end + size > sent) return
        end += text.length
        if (kind === 'no request') return model.refuse()
        model.open.push(model.taken)
        answers.push(String(model.taken))
        model.taken += 1
        const isLast = kind === 'close' || kind === 'body'
        // Answers leave in order, so the first open request holds back all that follow it.
        model.isClosing = isLast || model.taken - Math.min(...model.open) >= PIPELINED_MAX
      }
    },

    end() {
      if (!model.isClosing && hasRest) model.refuse()
    },

    refuse() {
      answers.push(400)
      model.isClosing = true
    },

    answer(index: number) {
      model.open = model.open.filter((one) => one !== index)
    },
  }
  return model
}
