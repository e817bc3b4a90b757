import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { Store } from '../../src/listing/store.ts'
import type { OpenFixture } from './fixture.ts'

/** The service calls this when it opens the store; other callers do not see it. */
const NOT_OF_THE_PORT = new Set(['prepare'])

/**
 * Records which methods the tests call on the stores that `open` opens. After all tests of the
 * file, in whatever order they run, a method that none of them has called is a failure.
 */
export function recordCalls(open: OpenFixture): OpenFixture {
  const called = new Set<string>()
  const methods = new Set<string>()
  after(() => {
    // A run of some tests calls some methods.
    if (process.execArgv.some((option) => option.startsWith('--test-name-pattern'))) return
    assert.ok(methods.size > 0)
    assert.deepEqual(
      [...methods].filter((name) => !called.has(name)),
      [],
    )
  })
  return async (t) => {
    const fixture = await open(t)
    for (const name of Object.keys(fixture.store)) if (!NOT_OF_THE_PORT.has(name)) methods.add(name)
    return {
      ...fixture,
      store: recording(fixture.store, called),
      openSecond: async () => recording(await fixture.openSecond(), called),
    }
  }
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
