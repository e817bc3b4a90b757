import { judgeAnswer } from '../form.ts'
import type { Judge } from '../judge.ts'
import type { Key, Kit } from '../kit.ts'
import { type Answer, objectOf } from '../wire/answer.ts'
import type { Exchange } from '../wire/connection.ts'
import type { RuleName } from '../rules.ts'
import type { Check } from './check.ts'

/** Maximum number of servers in a list (spec 4.1, 8). */
const SERVERS_MAX = 100

const isText = (value: unknown) => typeof value === 'string'
const isTextOrNull = (value: unknown) => value === null || isText(value)

/** The fields of a server, in the order of spec 2.1. */
const FIELDS: Record<string, (value: unknown) => boolean> = {
  id: (value) => isText(value) && UUID.test(value),
  name: isText,
  slug: isTextOrNull,
  address: isText,
  edition: isText,
  status: isText,
  version: isTextOrNull,
  listing_kind: isTextOrNull,
}
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const NAMES = Object.keys(FIELDS)

/** Header fields that must not change the list. */
const OTHER_FIELDS = [
  'Accept: text/xml',
  'Range: bytes=0-1',
  'If-None-Match: *',
  'If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT',
  'X-HTTP-Method-Override: DELETE',
  'Content-Type: text/xml',
  'Origin: https://example.com',
  'X-Odd: \xf6\xff',
  '__proto__: x',
]

/** The list of servers (spec 2.1, 4.1). */
export const LISTING: Check = {
  name: 'the list',
  requests: () => 5,
  grants: 5,
  async run(kit) {
    const { key, judge } = kit
    const plain = await grantedList(kit, key, 'list-answer')
    judge.expect('key-prefix', key.text.startsWith('svc_live_'), {
      exchange: key.claims[0]!,
      expected: 'svc_live_',
      seen: 'a key with another beginning',
    })
    if (plain === null) return
    const filtered = await grantedList(kit, key, 'query-ignored', {
      path: '/v1/servers?status=draft&edition=java&limit=1&offset=1&cursor=x',
    })
    if (filtered !== null) expectEqual(judge, 'query-ignored', filtered, plain)
    const other = await grantedList(kit, key, 'fields-ignored', { fields: OTHER_FIELDS })
    if (other !== null) expectEqual(judge, 'fields-ignored', other, plain)
    for (const scheme of ['bearer', 'BEARER']) await judgeScheme(kit, scheme)
  },
}

async function judgeScheme(kit: Kit, scheme: string): Promise<void> {
  const { key, judge } = kit
  await kit.free(key)
  const fields = [`Authorization: ${scheme} ${key.text}`]
  const exchange = await kit.send({ path: '/v1/servers', fields })
  key.claims.push(exchange)
  judgeAnswer(judge, 'scheme-case', exchange, 200)
}

type Listed = Exchange & { answer: Answer }

/** Asks for the list after the second of the key. Returns null if the answer is another one. */
async function grantedList(
  kit: Kit,
  key: Key,
  rule: RuleName,
  request: Parameters<Kit['claim']>[1] = {},
): Promise<Listed | null> {
  await kit.free(key)
  const exchange = await kit.claim(key, request)
  if (!judgeAnswer(kit.judge, rule, exchange, 200)) return null
  judgeList(kit.judge, exchange)
  return exchange
}

function expectEqual(judge: Judge, rule: RuleName, exchange: Listed, plain: Listed): void {
  judge.expect(rule, exchange.answer.body === plain.answer.body, {
    exchange,
    expected: 'the body of the answer without it',
  })
}

/** Checks the body of a 200 (spec 2.1, 4.1). */
export function judgeList(judge: Judge, exchange: Listed): void {
  const body = objectOf(exchange.answer)
  const servers: unknown = body?.servers
  const isList = Array.isArray(servers) && servers.length <= SERVERS_MAX
  judge.expect('list-shape', isList, {
    exchange,
    expected: `an object with an array \`servers\` of at most ${SERVERS_MAX}`,
    ...(Array.isArray(servers) ? { seen: `${servers.length} servers` } : {}),
  })
  judge.expect('only-servers', Object.keys(body ?? {}).join() === 'servers', {
    exchange,
    expected: '`servers` alone',
    seen: Object.keys(body ?? {}).join(', '),
  })
  // More than the maximum is a finding by itself.
  if (Array.isArray(servers))
    for (const server of servers.slice(0, SERVERS_MAX)) judgeServer(judge, exchange, server)
}

function judgeServer(judge: Judge, exchange: Listed, server: unknown): void {
  const fields =
    typeof server === 'object' && server !== null ? (server as Record<string, unknown>) : {}
  const names = Object.keys(fields)
  const isComplete = names.toSorted().join() === NAMES.toSorted().join()
  judge.expect('server-fields', isComplete, {
    exchange,
    expected: NAMES.join(', '),
    seen: differenceOf(names),
  })
  const wrong = NAMES.filter((name) => name in fields && !FIELDS[name]!(fields[name]))
  judge.expect('server-types', wrong.length === 0, {
    exchange,
    expected: 'id a UUID; slug, version and listing_kind a string or null; the others strings',
    seen: wrong.map((name) => `${name}: ${tellValue(fields[name])}`).join(', '),
  })
  if (isComplete)
    judge.expect('field-order', names.join() === NAMES.join(), {
      exchange,
      expected: NAMES.join(', '),
      seen: names.join(', '),
    })
}

/** A nested value can be too deep for JSON.stringify. */
function tellValue(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value)
}

function differenceOf(names: readonly string[]): string {
  const missing = NAMES.filter((name) => !names.includes(name)).map((name) => `no ${name}`)
  const surplus = names.filter((name) => !NAMES.includes(name)).map((name) => `also ${name}`)
  return [...missing, ...surplus].join(', ')
}
