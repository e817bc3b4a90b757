import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { users } from '../../src/accounts/records/users.ts'
import { openTokens } from '../../src/management/tokens.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { answerTo } from '../fixtures/requests.ts'
import { addToken, newToken, openDoor } from './door.ts'

/* Which tokens the management API accepts. */

test('only a known token gets an answer, and no answer tells the others apart', async (t) => {
  const door = await openDoor(t)
  await door.addUser('7')
  const { token } = door
  const refused = [
    { token: null },
    { token: `${token}x` },
    { token: token.slice(1) },
    { token: token.toLowerCase() },
    { token: newToken('site').token },
    { token: null, headers: { authorization: token } },
    { token: null, headers: { authorization: `Basic ${token}` } },
    { token: null, headers: { authorization: `Bearer  ${token}` } },
    { token: null, headers: { authorization: 'Bearer' } },
    { token: null, headers: { cookie: `token=${token}` } },
  ]
  const answers = await Promise.all(refused.map((one) => door.send('GET /v1/users/7', one)))
  for (const { status, body, headers } of answers) {
    assert.deepEqual([status, body], [401, '{"error":"Invalid or missing token."}'])
    assert.equal(headers['www-authenticate'], 'Bearer')
  }
  for (const path of [`/v1/users/7?token=${token}`, `/v1/users/7?access_token=${token}`])
    assert.equal((await door.send(`GET ${path}`, { token: null })).status, 401)
  const twice = { authorization: [`Bearer ${token}`, `Bearer ${token}`] as unknown as string }
  assert.equal((await door.send('GET /v1/users/7', { token: null, headers: twice })).status, 401)
  for (const scheme of ['bearer', 'BEARER'])
    assert.equal(
      (await door.send('GET /v1/users/7', { headers: { authorization: `${scheme} ${token}` } }))
        .status,
      200,
    )
  assert.deepEqual(door.faults, [])
})

test('a token in the URL is refused even beside a good one, and no answer repeats it', async (t) => {
  const door = await openDoor(t)
  const { status, body } = await door.send(`GET /v1/users/7?token=${door.token}`)
  assert.deepEqual([status, body], [400, '{"error":"The query may have nothing, once each."}'])
})

test('a change of the file counts from the next request on', async (t) => {
  const door = await openDoor(t)
  await door.addUser('7')
  const status = async (token: string) => (await door.send('GET /v1/users/7', { token })).status
  assert.equal(await status(door.token), 200)
  const second = addToken(door, 'site-2')
  assert.deepEqual([await status(door.token), await status(second)], [200, 200])

  const third = newToken('site-3')
  writeFileSync(door.tokensFile, third.line)
  assert.deepEqual(
    [await status(door.token), await status(second), await status(third.token)],
    [401, 401, 200],
  )
})

test('a file that is wrong later refuses all tokens, with one line in the log per episode', async (t) => {
  const door = await openDoor(t)
  await door.addUser('7')
  const { line } = newToken('other')
  const good = newToken('site')
  for (const spoil of [
    () => writeFileSync(door.tokensFile, `${line}site ${door.token}\n`),
    () => writeFileSync(door.tokensFile, ''),
    () => rmSync(door.tokensFile),
  ]) {
    spoil()
    const before = door.faults.length
    for (let count = 0; count < 3; count += 1)
      assert.deepEqual(await door.read(503, 'GET /v1/users/7'), {
        error: 'The tokens of this service are not configured. Its log says what is wrong.',
      })
    assert.equal(door.faults.length, before + 1)
    const { message } = door.faults.at(-1) as Error
    assert.match(message, /MANAGEMENT_TOKENS_FILE/)
    assert.doesNotMatch(message, new RegExp(door.token))
    writeFileSync(door.tokensFile, good.line)
    assert.equal((await door.send('GET /v1/users/7', { token: good.token })).status, 200)
  }
})

test('a wrong file is refused at the start, with its line', (t) => {
  const path = join(temporaryFolder(t), 'tokens')
  const [one, other] = [newToken('one'), newToken('other')]
  const hash = one.line.split(' ')[1]!.trim()
  const wrong: [string | Buffer, RegExp][] = [
    ['', /it is empty/],
    ['\n# none\n', /it has no token/],
    [`${one.line}two ${one.token}\n`, /line 2 must be a name/],
    [`\n\n${hash}\n`, /line 3 must be a name/],
    [`a  ${hash}\n`, /line 1 must be a name/],
    [`a ${hash.toUpperCase()}\n`, /line 1 must be a name/],
    [`a/b ${hash}\n`, /line 1 must be a name/],
    [`${'a'.repeat(65)} ${hash}\n`, /line 1 must be a name/],
    [`${one.line}one ${other.line.split(' ')[1]}`, /line 2 has the name or the token/],
    [`${one.line}two ${hash}\n`, /line 2 has the name or the token/],
    [Buffer.from([0xff, 0x41]), /is not UTF-8/],
  ]
  for (const [text, message] of wrong) {
    writeFileSync(path, text)
    assert.throws(() => openTokens(path, assert.fail), { name: 'UnusableTokens', message })
  }
  assert.throws(() => openTokens(`${path}-none`, assert.fail), /does not exist/)
  writeFileSync(path, `\uFEFF# two\r\n${one.line}\n${other.line.trim()}`)
  const tokens = openTokens(path, assert.fail)
  assert.equal(tokens.nameOf(`Bearer ${one.token}`), 'one')
  assert.equal(tokens.nameOf(`Bearer ${other.token}`), 'other')
  assert.equal(tokens.nameOf('Bearer '), null)
})

test('an edit within the same tick of the clock counts, too', (t) => {
  const path = join(temporaryFolder(t), 'tokens')
  const last = newToken('site')
  writeFileSync(path, last.line)
  const tokens = openTokens(path, assert.fail)
  for (let count = 0; count < 100; count += 1) {
    const next = newToken('site')
    writeFileSync(path, next.line)
    assert.equal(tokens.nameOf(`Bearer ${next.token}`), 'site')
    assert.equal(tokens.nameOf(`Bearer ${last.token}`), null)
  }
})

test('each digit of the hash counts', (t) => {
  const path = join(temporaryFolder(t), 'tokens')
  const { token, line } = newToken('site')
  for (let place = 'site '.length; place < line.trimEnd().length; place += 1) {
    const digit = line[place] === '0' ? '1' : '0'
    writeFileSync(path, `${line.slice(0, place)}${digit}${line.slice(place + 1)}`)
    assert.equal(openTokens(path, assert.fail).nameOf(`Bearer ${token}`), null)
  }
})

test('a token that goes while the body arrives is refused', async (t) => {
  const door = await openDoor(t)
  const sent = request({
    host: '127.0.0.1',
    port: door.port,
    method: 'POST',
    path: '/v1/acts',
    headers: {
      authorization: `Bearer ${door.token}`,
      'content-type': 'application/json',
      expect: '100-continue',
    },
    agent: false,
  })
  sent.flushHeaders()
  await once(sent, 'continue')
  writeFileSync(door.tokensFile, newToken('site-2').line)
  const { status } = await answerTo(sent, '{"put_users":[{"external_id":"7"}]}')
  assert.equal(status, 401)
  assert.equal(await users(door.store.database).findExternalUser('7'), null)
})
