import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOutbox, LARGE_BYTES, type Outbox, SMALL_BYTES } from '../../src/http/outbox.ts'
import { renderHead } from '../../src/http/render.ts'

/* The bytes of answers. */

const ANSWER = {
  status: 404,
  head: renderHead(404, ['X', 'y']),
  body: Buffer.from('ok'),
  route: 'unknown',
  apiKeyId: null,
}
const START = 'HTTP/1.1 404 Not Found\r\nX: y\r\nContent-Length: 2\r\n'

test('an answer has a date, and says whether the connection stays open and how long', () => {
  const outbox = createOutbox(75_999, () => 0)
  const date = 'Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n'
  const kept = `${START}${date}Connection: keep-alive\r\nKeep-Alive: timeout=75\r\n\r\n`
  assert.equal(rendered(outbox, false, false), `${kept}ok`)
  assert.equal(rendered(outbox, true, false), kept)
  assert.equal(rendered(outbox, false, true), `${START}${date}Connection: close\r\n\r\nok`)
})

test('the date changes with the second, forwards and backwards', () => {
  let now = 0
  const outbox = createOutbox(1, () => now)
  const dateAt = (milliseconds: number) => {
    now = milliseconds
    return /Date: .*? 1970 (.*) GMT/.exec(rendered(outbox, false, false))![1]
  }
  assert.equal(dateAt(0), '00:00:00')
  assert.equal(dateAt(1_000), '00:00:01')
  assert.equal(dateAt(1_999), '00:00:01')
  assert.equal(dateAt(61_000), '00:01:01')
  assert.equal(dateAt(999), '00:00:00')
})

test('answers of any size follow each other, and only an empty one has no length', () => {
  const outbox = createOutbox(1_000)
  const sizes = [0, 1, SMALL_BYTES, 3 * SMALL_BYTES, 7, 100 * SMALL_BYTES, 2]
  for (const many of [sizes, sizes.toReversed(), [5]]) {
    for (const size of many) outbox.add({ ...ANSWER, body: bodyOf(size) }, false, false)
    const text = outbox.take().toString()
    assert.deepEqual(
      text.split(/HTTP.*?\r\n\r\n/s).slice(1),
      many.map((size) => bodyOf(size).toString()),
    )
    const lengths = [...text.matchAll(/^Content-Length: (\d+)\r\n/gm)]
    assert.deepEqual(
      lengths.map(([, length]) => Number(length)),
      many.filter((size) => size > 0),
    )
  }
})

test('a buffer that the socket still holds is not overwritten', () => {
  for (const size of [5, SMALL_BYTES, LARGE_BYTES]) {
    const outbox = createOutbox(1_000)
    const taken = takenOf(outbox, size)
    outbox.leave()
    const before = taken.toString()
    for (const other of [0, SMALL_BYTES, LARGE_BYTES]) {
      takenOf(outbox, other)
      assert.equal(taken.toString(), before)
    }
  }
})

test('answers that fit share a buffer, and small ones leave the large one alone', () => {
  const outbox = createOutbox(1_000)
  const [small, large] = [takenOf(outbox, 5), takenOf(outbox, SMALL_BYTES)]
  assert.equal(takenOf(outbox, 6).buffer, small.buffer)
  assert.equal(takenOf(outbox, LARGE_BYTES / 2).buffer, large.buffer)
  takenOf(outbox, LARGE_BYTES)
  assert.equal(takenOf(outbox, SMALL_BYTES).buffer, large.buffer)
  assert.equal(takenOf(outbox, 7).buffer, small.buffer)
  assert.deepEqual(
    [small, large].map(({ buffer }) => buffer.byteLength),
    [SMALL_BYTES, LARGE_BYTES],
  )
})

function takenOf(outbox: Outbox, size: number): Buffer {
  outbox.add({ ...ANSWER, body: bodyOf(size) }, false, false)
  return outbox.take()
}

function bodyOf(size: number): Buffer {
  return Buffer.alloc(size, String(size))
}

function rendered(outbox: Outbox, isHead: boolean, isLast: boolean): string {
  outbox.add(ANSWER, isHead, isLast)
  return outbox.take().toString()
}
