import { judgeAnswer, judgeField } from '../form.ts'
import { mostApart, SECOND } from '../interval.ts'
import { isTransient, type Key, type Kit, listWithKey } from '../kit.ts'
import { LIST, listWith, type Request } from '../request.ts'
import type { RuleName } from '../rules.ts'
import { objectOf } from '../wire/answer.ts'
import type { Exchange } from '../wire/connection.ts'
import type { Check } from './check.ts'
import { judgeHealth } from './paths.ts'

/** Bursts of requests at the same moment. */
const BURSTS = 3
/** A machine that stands still can make a try say nothing. Then the kit tries again. */
const TRIES_MAX = 10
/** How long before the end of the second the early request goes out, at least. */
const EARLY = 15_000
/** The second of the service may end a little after that of the kit. */
const LATE = 10_000

/** The rate limit, with requests on many connections (spec 5.2, 7.3, 8). */
export const LIMIT: Check = {
  name: 'the rate limit',
  requests: (burst) => BURSTS * burst + 2 + 3 + 3 + 4 + 7,
  grants: BURSTS + 6,
  needsGrants: true,
  async run(kit) {
    for (let burst = 0; burst < BURSTS; burst += 1)
      await judgeTogether(kit, 'one-granted', () =>
        kit.claimTogether(Array.from({ length: kit.burst }, () => kit.key)),
      )
    await judgeTogether(kit, 'shared-limit', () => pipelined(kit))
    await judgeSecond(kit)
    await judgeOnly200Counts(kit)
    await judgePrecedence(kit)
    await judgeExempt(kit)
  },
}

/** Both in one piece on one connection, so that the second one must wait for the first answer. */
async function pipelined({ sendInPiece, key }: Kit): Promise<Exchange[]> {
  const request = listWithKey(key, { isKept: true })
  const exchanges = await sendInPiece([request, listWithKey(key)])
  key.claims.push(...exchanges)
  return exchanges
}

/** Of requests that share a moment, one gets 200 and the others 429. */
async function judgeTogether(
  kit: Kit,
  rule: RuleName,
  send: () => Promise<Exchange[]>,
): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    await kit.free(kit.key)
    const exchanges = await send()
    if (isTransient(kit.judge, exchanges) && tries < TRIES_MAX - 1) continue
    const granted = exchanges.filter(({ answer }) => answer?.status === 200)
    const [first, second] = granted
    // The machine stood still, and both may be right.
    if (first !== undefined && second !== undefined && mostApart(first, second) >= SECOND) continue
    const others = exchanges.filter((exchange) => !granted.includes(exchange))
    kit.judge.expect(rule, granted.length === 1, {
      exchange: granted.length > 1 ? granted.slice(0, 2) : exchanges.slice(0, 2),
      expected: 'one 200',
      seen: `${granted.length} of ${exchanges.length} requests got 200`,
    })
    for (const exchange of granted) judgeAnswer(kit.judge, 'list-answer', exchange, 200)
    for (const exchange of others) judgeLimited(kit, exchange)
    return
  }
}

/** Just before the second is over a key gets 429, and just after it 200 (spec 8, rule 1). */
async function judgeSecond(kit: Kit): Promise<void> {
  const { key, judge } = kit
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    await kit.free(key)
    const first = await kit.claim(key)
    if (!judgeAnswer(judge, 'list-answer', first, 200)) return
    const early = EARLY + 2 * (first.t1 - first.t0)
    await kit.until(first.t0 + SECOND - early)
    const second = await kit.claim(key)
    await kit.until(first.t1 + SECOND + LATE)
    const third = await kit.claim(key)
    if (second.answer?.status === 200) {
      // The machine stood still between the two. Otherwise the whole run shows the contradiction.
      if (mostApart(first, second) >= SECOND) continue
      return
    }
    judge.expect('spacing', true, { exchange: second, expected: '429' })
    judgeLimited(kit, second)
    judgeAnswer(judge, 'returns', third, 200)
    return
  }
}

/** Other answers leave the second of the key to the next request. */
async function judgeOnly200Counts(kit: Kit): Promise<void> {
  const { key } = kit
  const fields = [`Authorization: Bearer ${key.text}`]
  await kit.free(key)
  await kit.send({ method: 'POST', path: LIST, fields })
  await kit.send({ path: '/health', fields })
  const exchange = await kit.claim(key)
  judgeAnswer(kit.judge, 'only-200-counts', exchange, 200)
}

/** 401 and 404 are decided before the limit, and unknown keys have no limit (spec 5.2, 7.3). */
async function judgePrecedence(kit: Kit): Promise<void> {
  const { key, judge } = kit
  const unknown = listWith(`Bearer svc_live_${'fedcba9876543210'.repeat(4)}`)
  await kit.free(key)
  await kit.claim(key)
  for (const request of [unknown, unknown, listWith(`Bearer ${key.text}0`)])
    judgeAnswer(judge, 'auth-first', await kit.send(request), 401)
}

/** Beside the limit of a key, health, preflights and another key get their answers. */
async function judgeExempt(kit: Kit): Promise<void> {
  const { key, second, judge } = kit
  const fields = [`Authorization: Bearer ${key.text}`]
  const others: Request[] = ['/health', '/'].map((path) => ({ path, fields }))
  await kit.free(key)
  if (second === null) {
    await kit.claim(key)
  } else {
    await judgeOwnLimits(kit, second)
  }
  for (const request of others) {
    await judgeHealth(kit, request)
    const { answer } = await kit.send(request)
    const exchange = await kit.send(request)
    const isExempt = answer?.status === 200 && exchange.answer?.status === 200
    judge.expect('health-exempt', isExempt, { exchange, expected: '200' })
  }
}

/** Two keys get their 200s at the same moment (spec 8). */
async function judgeOwnLimits(kit: Kit, second: Key): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await kit.free(kit.key)
    await kit.free(second)
    const exchanges = await kit.claimTogether([kit.key, second])
    if (isTransient(kit.judge, exchanges) && tries < TRIES_MAX) continue
    for (const exchange of exchanges) judgeAnswer(kit.judge, 'own-limits', exchange, 200)
    return
  }
}

/** Checks a 429 (spec 7.2, 8). */
function judgeLimited({ judge }: Kit, exchange: Exchange): void {
  if (!judgeAnswer(judge, 'limited-answer', exchange, 429)) return
  judgeField(judge, 'limited-answer', exchange, exchange.answer, ['Retry-After', '1'])
  const limit = objectOf(exchange.answer)?.limit
  judge.expect('limited-answer', limit === '1 rps', { exchange, expected: '`limit` is "1 rps"' })
}

export function milliseconds(microseconds: number): string {
  return `${(microseconds / 1_000).toFixed(1)} ms`
}
