import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authenticate } from '../../../src/accounts/sign-in/oidc/client-authentication.ts'

test('the header has the client id and the secret as a form encodes them', () => {
  for (const methods of [undefined, ['client_secret_post', 'client_secret_basic']]) {
    const { headers, body } = shown('a b:c%/é', methods)
    const [, credentials = ''] = /^Basic (\S+)$/.exec(headers.get('authorization') ?? '') ?? []
    const text = Buffer.from(credentials, 'base64').toString()
    assert.equal(text, 'server-listing:a+b%3Ac%25%2F%C3%A9')
    assert.equal(body.toString(), '')
  }
})

test('the header leaves what needs no encoding as it is, for providers that do not decode', () => {
  const { headers } = shown('a_secret-of.base64url', ['client_secret_basic'])
  const expected = Buffer.from('server-listing:a_secret-of.base64url').toString('base64')
  assert.equal(headers.get('authorization'), `Basic ${expected}`)
})

test('a provider that takes the secret in the body only gets it there', () => {
  const { headers, body } = shown('a b:c', ['client_secret_post'])
  assert.deepEqual([...headers], [])
  assert.equal(body.toString(), 'client_id=server-listing&client_secret=a+b%3Ac')
})

function shown(secret: string, methods: string[] | undefined) {
  const [body, headers] = [new URLSearchParams(), new Headers()]
  const server = methods === undefined ? {} : { token_endpoint_auth_methods_supported: methods }
  const issuer = 'https://id.example.com'
  authenticate(secret)({ issuer, ...server }, { client_id: 'server-listing' }, body, headers)
  return { body, headers }
}
