import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { createKeyCache, wordOf } from '../../src/claims/key-cache.ts'

const hashOf = (number: number) => createHash('sha256').update(`${number}`).digest()
const NUMBERS = Array.from({ length: 100 }, (_, index) => index + 1)

test('a row is found by all bytes of the hash, until the cache is cleared', () => {
  const cache = createKeyCache<string>(64)
  cache.set(hashOf(1), 'one')
  cache.set(hashOf(2), 'two')
  for (let place = 0; place < 32; place += 1) {
    const other = hashOf(1)
    other[place]! ^= 1
    assert.equal(cache.get(other), undefined)
  }
  assert.deepEqual([cache.get(hashOf(1)), cache.get(hashOf(2))], ['one', 'two'])
  cache.set(hashOf(1), 'one again')
  assert.equal(cache.get(hashOf(1)), 'one again')
  cache.clear()
  assert.deepEqual([cache.get(hashOf(1)), cache.get(hashOf(2))], [undefined, undefined])
  cache.set(hashOf(1), 'new')
  assert.equal(cache.get(hashOf(1)), 'new')
})

test('a full cache evicts a random row', () => {
  const drawn = [0, 0.999]
  const cache = createKeyCache<number>(32, () => drawn.shift() ?? 0.5)
  for (const number of NUMBERS.slice(0, 34)) cache.set(hashOf(number), number)
  const kept = NUMBERS.filter((number) => cache.get(hashOf(number)) === number)
  assert.deepEqual(kept, [...NUMBERS.slice(1, 31), 33, 34])
})

/** One of the two sets of a cache of 64 rows. */
const setOf = (number: number) => (wordOf(hashOf(number), 4) >>> 0) % 2

test('a full set evicts only its own rows', () => {
  const cache = createKeyCache<number>(64)
  const [own, others] = [0, 1].map((set) => NUMBERS.filter((number) => setOf(number) === set))
  for (const number of others!.slice(0, 32)) cache.set(hashOf(number), number)
  for (const number of own!) cache.set(hashOf(number), number)
  for (const number of others!.slice(0, 32)) assert.equal(cache.get(hashOf(number)), number)
  assert.equal(own!.filter((number) => cache.get(hashOf(number)) === number).length, 32)
})

test('keys in turn that fill three quarters of the cache miss it once in fifty times', () => {
  const [rowsMax, count] = [16_384, 12_500]
  const cache = createKeyCache<number>(rowsMax)
  const useAll = () => {
    let missed = 0
    for (let number = 0; number < count; number += 1) {
      if (cache.get(hashOf(number)) === number) continue
      missed += 1
      cache.set(hashOf(number), number)
    }
    return missed
  }
  useAll()
  useAll()
  const missed = useAll()
  assert.ok(missed < count / 50, `${missed} of ${count} lookups missed`)
})

test('a word is four bytes of the hash, from any place', () => {
  const hash = Uint8Array.of(0, 0x12, 0x34, 0x56, 0x78, 0xff)
  assert.equal(wordOf(hash, 1), 0x12_34_56_78)
  assert.equal(wordOf(hash, 2) >>> 0, 0x34_56_78_ff)
})
