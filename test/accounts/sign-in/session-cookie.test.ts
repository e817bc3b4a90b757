import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sessionCookie } from '../../../src/accounts/sign-in/session-cookie.ts'

const token = (letter: string) => letter.repeat(43)
const cookie = sessionCookie('http://127.0.0.1:8081')
const secure = sessionCookie('https://listing.example.com')

test('the cookie line’s tokens of our name are read in order, and nothing else', () => {
  const [a, b] = [token('a'), token('b')]
  for (const [line, tokens] of [
    ['', []],
    [`session=${a}`, [a]],
    [`session=x; theme=dark;session=${a};  session=${b} ; last`, [a, b]],
    [`my-session=${a}; __Host-session=${a}; Session=${a}; session`, []],
    [`session="${a}"; session=${a}a; session=${a.slice(1)}; session=; session==${a}`, []],
    [`session=${a.slice(1)}.; session=${a.slice(1)}\u{e9}`, []],
  ] as const)
    assert.deepEqual(cookie.read(line), tokens, line)
  assert.deepEqual(secure.read(`session=${a}; __Host-session=${b}`), [b])
})

test('at most ten tokens are looked up', () => {
  const letters = [...'abcdefghijkl']
  const line = letters.map((letter) => `session=${token(letter)}`).join('; ')
  assert.deepEqual(cookie.read(line), letters.slice(0, 10).map(token))
})

test('the cookie is host-only, hidden from scripts and lasts seven days; under https it needs TLS', () => {
  const attributes = 'Path=/; HttpOnly; SameSite=Lax'
  assert.equal(cookie.set('x'), `session=x; Max-Age=604800; ${attributes}`)
  assert.equal(cookie.remove(), `session=; Max-Age=0; ${attributes}`)
  assert.equal(secure.set('x'), `__Host-session=x; Max-Age=604800; ${attributes}; Secure`)
  assert.equal(secure.remove(), `__Host-session=; Max-Age=0; ${attributes}; Secure`)
})
