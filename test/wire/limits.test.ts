import { suite, test } from 'node:test'
import { startTestService } from '../fixtures/service.ts'
import { hosted } from './corpus/case.ts'
import { assertOutcomes, type Outcome } from './client/outcome.ts'
import { open } from './client/raw.ts'

/* The largest accepted heads and the smallest refused ones. */

const MAX = 8_192

/** On a busy machine, many small pieces can take longer than the service waits for a head. */
const PATIENT = { headersMs: 600_000 }

/** A head with a target of this many bytes. */
function withTarget(bytes: number): string {
  return hosted(`GET /${'x'.repeat(bytes - 1)} HTTP/1.1`)
}

/** A head whose header names and values have this many bytes in total. */
function withHeaders(bytes: number): string {
  return hosted('GET /health HTTP/1.1', `X: ${'x'.repeat(bytes - 'Hostexample.comX'.length)}`)
}

/** A head with this many header lines. */
function withLines(count: number): string {
  return hosted('GET /health HTTP/1.1', ...Array.from({ length: count - 1 }, () => 'X:'))
}

suite('limits', { concurrency: true }, () => {
  const CASES: [name: string, head: string, Outcome][] = [
    ['a target of just the greatest length', withTarget(MAX), 404],
    ['a target of one byte more', withTarget(MAX + 1), 414],
    ['headers of just the greatest size', withHeaders(MAX), 'health'],
    ['headers of one byte more', withHeaders(MAX + 1), 431],
    [
      'both at their greatest',
      hosted(`GET /?${'x'.repeat(MAX - 2)} HTTP/1.1`, `X: ${'x'.repeat(MAX - 16)}`),
      'health',
    ],
    ['a target of 15 kB', withTarget(15_000), 414],
    ['headers of 17 kB', withHeaders(17_000), 431],
    ['a target that only just fits what is read', withTarget(32_000), 414],
    ['headers that only just fit what is read', withHeaders(32_000), 431],
    ['as many lines as are taken', withLines(1_024), 'health'],
    ['one line more', withLines(1_025), 431],
    ['many lines more', withLines(2_000), 431],
  ]
  for (const [name, head, outcome] of CASES)
    for (const size of [head.length, 1_000])
      test(`${name}, ${size} bytes at a time`, async (t) => {
        const { port } = await startTestService(t, PATIENT)
        const client = await open(port)
        const closes = typeof outcome === 'number' && outcome !== 404
        await client.sendInPieces(head, size)
        if (!closes) client.socket.end()
        assertOutcomes(await client.untilEnd(), [outcome], closes)
      })

  const HUGE: [name: string, head: string, Outcome][] = [
    ['a target of 40 kB', withTarget(40_000), 414],
    ['a target of 100 kB', withTarget(100_000), 414],
    ['a value of 40 kB', withHeaders(40_000), 431],
    ['a value of 70 kB', withHeaders(70_000), 431],
    [
      'a hundred values of a kilobyte',
      hosted('GET / HTTP/1.1', ...Array.from({ length: 100 }, () => `X: ${'x'.repeat(1_000)}`)),
      431,
    ],
  ]
  for (const [name, head, outcome] of HUGE) {
    test(name, async (t) => {
      const { port } = await startTestService(t, PATIENT)
      const client = await open(port)
      client.send(head)
      assertOutcomes(await client.untilEnd(), [outcome], true)
    })
    test(`${name}, after a request`, async (t) => {
      const { port } = await startTestService(t, PATIENT)
      const client = await open(port)
      client.send(hosted('GET / HTTP/1.1') + head)
      assertOutcomes(await client.untilEnd(), ['health', outcome], true)
    })
    test(`${name} without an end, a kilobyte at a time`, async (t) => {
      const { port } = await startTestService(t, PATIENT)
      const client = await open(port)
      await client.sendInPieces(head.trimEnd(), 1_000)
      assertOutcomes(await client.untilEnd(), [outcome], true)
    })
  }
})
