import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import {
  KeyFileError,
  ServerListingClient,
  type ServerListingError,
} from '../../client/src/index.ts'
import { startTestService } from '../fixtures/service.ts'
import { KEY, startOddService } from './odd-service.ts'

const BASE_URL = 'https://api.example.com'

test('a wrong option is refused with a sentence, without the key', () => {
  const wrong: [options: object, message: RegExp][] = [
    [{}, /pass apiKey or apiKeyFile, not none/],
    [{ apiKey: KEY, apiKeyFile: '/run/key' }, /not both/],
    [{ apiKey: '' }, /apiKey is not an API key/],
    [{ apiKey: ` ${KEY}` }, /without white space/],
    [{ apiKey: `${KEY}\r\nHost: elsewhere` }, /apiKey is not an API key/],
    [{ apiKey: KEY.replace('svc', 'sk') }, /apiKey is not an API key/],
    [{ apiKey: KEY, baseUrl: 'api.example.com' }, /baseUrl must be a URL such as/],
    [{ apiKey: KEY, baseUrl: undefined }, /baseUrl must be a URL such as/],
    [{ apiKey: KEY, baseUrl: 'ftp://api.example.com' }, /https:\/\/, not ftp:/],
    [{ apiKey: KEY, baseUrl: 'https://ada:secret@api.example.com' }, /without user/],
    [{ apiKey: KEY, baseUrl: `${BASE_URL}/?key=secret` }, /without user/],
    [{ apiKey: KEY, baseUrl: 'http://api.example.com' }, /unencrypted/],
    [{ apiKey: KEY, timeoutMs: 0 }, /timeoutMs must be between/],
    [{ apiKey: KEY, timeoutMs: Number.NaN }, /timeoutMs must be between/],
    [{ apiKey: KEY, maxTries: 0 }, /maxTries must be a whole number/],
    [{ apiKey: KEY, maxTries: 1.5 }, /maxTries must be a whole number/],
  ]
  for (const [options, message] of wrong)
    assert.throws(
      () => new ServerListingClient({ baseUrl: BASE_URL, ...options }),
      (error: Error) => {
        assert.ok(error instanceof TypeError)
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /0123456789abcdef|secret/)
        return true
      },
    )
})

test('plain HTTP is for this host, or for a network that the caller trusts', () => {
  for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080'])
    assert.ok(new ServerListingClient({ baseUrl: `http://${host}`, apiKey: KEY }))
  const options = { baseUrl: 'http://listing:8080', apiKey: KEY }
  assert.ok(new ServerListingClient({ ...options, allowInsecureHttp: true }))
  assert.throws(() => new ServerListingClient({ ...options, baseUrl: 'http://127.evil.example' }))
})

test('a base URL may have a path and a slash at its end', async (t) => {
  const paths: (string | undefined)[] = []
  const base = await startOddService(t, ({ url }, response) => {
    paths.push(url)
    response.end('{"servers":[]}')
  })
  for (const [index, baseUrl] of [base, `${base}/`, new URL(`${base}/listing/`)].entries())
    await new ServerListingClient({ baseUrl, apiKey: `${KEY}${index}` }).listServers()
  assert.deepEqual(paths, ['/v1/servers', '/v1/servers', '/listing/v1/servers'])
})

test('a browser is refused unless the caller insists', (t) => {
  const options = { baseUrl: BASE_URL, apiKey: KEY }
  const looks: [name: string, value: unknown][] = [
    ['document', {}],
    ['navigator', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' }],
    ['navigator', { product: 'ReactNative' }],
  ]
  for (const [name, value] of looks) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name)
    const restore = () => {
      Reflect.deleteProperty(globalThis, name)
      if (before !== undefined) Object.defineProperty(globalThis, name, before)
    }
    t.after(restore)
    Object.defineProperty(globalThis, name, { value, configurable: true })
    assert.throws(() => new ServerListingClient(options), /does not run in browsers/)
    assert.ok(new ServerListingClient({ ...options, dangerouslyAllowBrowser: true }))
    restore()
  }
  for (const userAgent of ['Node.js/24', 'Bun/1.4', 'Deno/2.5', 'Cloudflare-Workers']) {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator')!
    Object.defineProperty(globalThis, 'navigator', { value: { userAgent }, configurable: true })
    try {
      assert.ok(new ServerListingClient(options))
    } finally {
      Object.defineProperty(globalThis, 'navigator', before)
    }
  }
})

test('neither a client nor an error shows the key', async (t) => {
  const { port, close } = await startTestService(t)
  const baseUrl = `http://127.0.0.1:${port}`
  const client = new ServerListingClient({ baseUrl, apiKey: KEY, maxTries: 1 })
  const errors: unknown[] = [await client.listServers().catch((error: unknown) => error)]
  await close()
  errors.push(await client.listServers().catch((error: unknown) => error))
  const echo = await startOddService(t, (request, response) => {
    const { authorization } = request.headers
    response.writeHead(502, { 'X-Request-Id': authorization }).end(authorization)
  })
  const echoed = new ServerListingClient({ baseUrl: echo, apiKey: KEY, maxTries: 1 })
  errors.push(await echoed.listServers().catch((error: unknown) => error))
  assert.deepEqual(
    errors.map((error) => (error as ServerListingError).status),
    [401, null, 502],
  )
  for (const each of [client, echoed, client.watch(), ...errors]) {
    const shown = inspect(each, { depth: Infinity, showHidden: true }) + JSON.stringify(each)
    assert.doesNotMatch(shown, /0123456789abcdef/)
  }
})

test('a key file that is missing or holds no key is an error before any request', async (t) => {
  let requests = 0
  const baseUrl = await startOddService(t, (_, response) => {
    requests += 1
    response.end()
  })
  const missing = new ServerListingClient({ baseUrl, apiKeyFile: '/does/not/exist' })
  await assert.rejects(
    missing.listServers(),
    (error) =>
      error instanceof KeyFileError && /\/does\/not\/exist.*\(ENOENT\)/.test(error.message),
  )
  const wrong = new ServerListingClient({ baseUrl, apiKeyFile: new URL(import.meta.url) })
  await assert.rejects(
    wrong.listServers(),
    (error) => error instanceof KeyFileError && /does not contain an API key/.test(error.message),
  )
  assert.equal(requests, 0)
})
