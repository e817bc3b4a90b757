import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesBelow } from '../../fixtures/tree.ts'

/** An import that loads a module of sign-in by an identity provider at once. */
const LOADS = /^(?:import|export) (?!type\b)[^'"]*?from '(?:[^']*\/oidc\/[^']*|openid-client)'/gm
/** The folders of its own code, and the configuration, which every process reads. */
const OWN = /^src\/(accounts\/(sign-in|pages)\/oidc|config)\//

test('a service without an identity provider loads no code for one', () => {
  const loading = filesBelow('src', '.ts')
    .filter(({ path }) => !OWN.test(path))
    .flatMap(({ path, text }) => (text.match(LOADS) ?? []).map((line) => `${path}: ${line}`))
  assert.deepEqual(loading, [])
  // Its own code loads the library at the first sign-in.
  const own = filesBelow('src/accounts/sign-in/oidc', '.ts')
  assert.ok(own.some(({ text }) => text.includes("await import('openid-client')")))
  for (const { path, text } of own) assert.doesNotMatch(text, /^import \{.*'openid-client'/m, path)
})
