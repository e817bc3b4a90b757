import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenFixture, StoreFixture } from '../../fixture.ts'
import { tally } from '../../people.ts'
import { signInAttempts } from '../../../../src/accounts/records/sign-in-attempts.ts'
import { recordsOf } from '../../../fixtures/records.ts'
import { NOW } from '../../../fixtures/clock.ts'

type Store = StoreFixture['store']

const one = (subject: string, attemptsMax: number) => [{ subject, attemptsMax }]

export function signInAttemptsContract(open: OpenFixture): void {
  test('the attempt after the maximum returns the oldest one that counts', async (t) => {
    const { store } = await open(t)
    for (const instant of [NOW, NOW + 1, NOW + 2])
      assert.equal(await recordsOf(store).beginAttempt(one('a', 3), NOW, instant), null)
    assert.equal(await recordsOf(store).beginAttempt(one('a', 3), NOW, NOW + 3), NOW)
    assert.equal(await recordsOf(store).beginAttempt(one('a', 4), NOW, NOW + 3), null)
    assert.equal(await recordsOf(store).beginAttempt(one('a', 3), NOW, NOW + 4), NOW + 1)
  })

  test('an attempt counts from `since` on, to the microsecond', async (t) => {
    const { store } = await open(t)
    assert.equal(await recordsOf(store).beginAttempt(one('a', 1), 0, NOW), null)
    assert.equal(await recordsOf(store).beginAttempt(one('a', 1), NOW, NOW + 5), NOW)
    assert.equal(await recordsOf(store).beginAttempt(one('a', 1), NOW + 1, NOW + 5), null)
  })

  test('if several subjects are full, the latest of their attempts is returned', async (t) => {
    const { store } = await open(t)
    await recordsOf(store).beginAttempt(one('a', 9), 0, NOW)
    await recordsOf(store).beginAttempt(one('b', 9), 0, NOW + 7)
    const both = [...one('b', 1), ...one('a', 1)]
    assert.equal(await recordsOf(store).beginAttempt(both, 0, NOW + 9), NOW + 7)
    assert.equal(await recordsOf(store).beginAttempt(both.toReversed(), 0, NOW + 9), NOW + 7)
  })

  test('a refused attempt counts under none of its subjects', async (t) => {
    const { store } = await open(t)
    await recordsOf(store).beginAttempt(one('full', 1), 0, NOW)
    const both = [...one('free', 1), ...one('full', 1)]
    assert.equal(await recordsOf(store).beginAttempt(both, 0, NOW + 1), NOW)
    assert.equal(await recordsOf(store).beginAttempt(one('free', 1), 0, NOW + 1), null)
    assert.equal(await countOf(store, 'full'), 1)
  })

  test('an accepted attempt counts under each of its subjects and no other', async (t) => {
    const { store } = await open(t)
    assert.equal(
      await recordsOf(store).beginAttempt([...one('a', 1), ...one('b', 1)], 0, NOW),
      null,
    )
    assert.equal(await recordsOf(store).beginAttempt(one('a', 1), 0, NOW + 1), NOW)
    assert.equal(await recordsOf(store).beginAttempt(one('b', 1), 0, NOW + 1), NOW)
    assert.equal(await recordsOf(store).beginAttempt(one('c', 1), 0, NOW + 1), null)
  })

  test('exactly the maximum of thirty attempts at once is accepted', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const subjects = [...one('account', 5), ...one('address', 100)]
    const begun = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        signInAttempts((index % 2 === 0 ? store : second).database).beginAttempt(
          index % 3 === 0 ? subjects : subjects.toReversed(),
          0,
          NOW,
        ),
      ),
    )
    assert.deepEqual(tally(begun), { null: 5, [NOW]: 25 })
  })

  forgettingContract(open)
}

function forgettingContract(open: OpenFixture): void {
  test('a successful attempt clears all attempts of some subjects, and only itself from others', async (t) => {
    const { store } = await open(t)
    const subjects = [...one('account', 9), ...one('address', 9), ...one('else', 9)]
    for (const instant of [NOW, NOW + 2, NOW + 1])
      await recordsOf(store).beginAttempt(subjects, 0, instant)
    await recordsOf(store).forgetAttempts(['account'], ['address'])
    assert.deepEqual(await attemptsOf(store, 'account'), [])
    assert.deepEqual(await attemptsOf(store, 'address'), [NOW, NOW + 1])
    assert.deepEqual(await attemptsOf(store, 'else'), [NOW, NOW + 1, NOW + 2])
  })

  test('attempts under several subjects are cleared by the rule of each', async (t) => {
    const { store } = await open(t)
    for (const instant of [NOW, NOW + 1])
      await recordsOf(store).beginAttempt(
        ['a', 'b', 'c', 'd'].flatMap((name) => one(name, 9)),
        0,
        instant,
      )
    await recordsOf(store).forgetAttempts(['a', 'b'], ['c', 'd', 'unknown'])
    assert.deepEqual(
      await Promise.all(['a', 'b', 'c', 'd'].map((name) => countOf(store, name))),
      [0, 0, 1, 1],
    )
  })

  test('an attempt deletes at most the hundred oldest that no longer count', async (t) => {
    const { store } = await open(t)
    for (let instant = 1; instant <= 105; instant += 1)
      await recordsOf(store).beginAttempt(one(`old ${instant}`, 1), 0, instant)
    assert.equal(await recordsOf(store).beginAttempt(one('new', 1), 105, NOW), null)
    const left = []
    for (let instant = 1; instant <= 105; instant += 1)
      if ((await countOf(store, `old ${instant}`)) === 1) left.push(instant)
    assert.deepEqual(left, [101, 102, 103, 104, 105])
  })

  test('a refused attempt also deletes those that no longer count', async (t) => {
    const { store } = await open(t)
    await recordsOf(store).beginAttempt(one('old', 1), 0, NOW)
    await recordsOf(store).beginAttempt(one('full', 1), 0, NOW + 2)
    assert.equal(await recordsOf(store).beginAttempt(one('full', 1), NOW + 1, NOW + 3), NOW + 2)
    assert.equal(await countOf(store, 'old'), 0)
  })
}

/** The instants of the attempts under a subject, found one by one through the limit. */
async function attemptsOf(store: Store, subject: string): Promise<number[]> {
  const found: number[] = []
  for (let rank = 1; ; rank += 1) {
    const instant = await blocking(store, subject, rank)
    if (instant === null) return found
    found.unshift(instant)
  }
}

async function countOf(store: Store, subject: string): Promise<number> {
  return (await attemptsOf(store, subject)).length
}

/**
 * The attempt of this rank, newest first. The second subject is full, so that this question never
 * counts as an attempt.
 */
async function blocking(store: Store, subject: string, rank: number): Promise<number | null> {
  const before = 'a subject that always refuses, with an attempt older than all others'
  await recordsOf(store).beginAttempt(one(before, 1), 0, 0)
  const instant = await recordsOf(store).beginAttempt(
    [...one(subject, rank), ...one(before, 1)],
    0,
    1,
  )
  return instant === 0 ? null : instant
}
