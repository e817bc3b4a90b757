import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../src/listing/store.ts'
import type { OpenFixture } from './fixture.ts'

/** The service calls this when it opens the store; other callers do not see it. */
const NOT_OF_THE_PORT = new Set(['prepare'])

/** Records which methods the tests call on the stores that `open` opens. */
export function recordCalls(open: OpenFixture): { open: OpenFixture; called: Set<string> } {
  const called = new Set<string>()
  return {
    called,
    async open(t) {
      const fixture = await open(t)
      return {
        ...fixture,
        store: recording(fixture.store, called),
        openSecond: async () => recording(await fixture.openSecond(), called),
      }
    },
  }
}

/**
 * The names come from an opened store: a new method fails this test until the contract calls it.
 */
export function everyMethodIsCalled(open: OpenFixture, called: ReadonlySet<string>): void {
  test('the tests above call every method of the store', async (t) => {
    const { store } = await open(t)
    const methods = Object.keys(store).filter((name) => !NOT_OF_THE_PORT.has(name))
    assert.ok(methods.length > 0)
    assert.deepEqual(
      methods.filter((name) => !called.has(name)),
      [],
    )
  })
}

function recording<S extends Store>(store: S, called: Set<string>): S {
  return new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        called.add(String(name))
        return member.apply(target, args)
      }
    },
  })
}
