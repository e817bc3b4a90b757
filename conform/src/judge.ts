import type { Mask } from './mask.ts'
import { RULES, type RuleName } from './rules.ts'
import type { Answer } from './wire/answer.ts'
import type { Exchange } from './wire/connection.ts'

/** A contradiction to a rule, in texts without keys. */
export interface Finding {
  rule: RuleName
  section: string
  text: string
  sent: string
  expected: string
  seen: string
  /** Further requests that showed the same. */
  more: number
}

/** What a rule has come to. */
export interface RuleResult {
  checks: number
  findings: Finding[]
}

/** Collects the results of all rules. */
export interface Judge {
  /** Counts one check of a rule. A check that fails is a finding. */
  expect(rule: RuleName, holds: boolean, about: About): void
  /** Results of the rules that were checked. */
  results: ReadonlyMap<RuleName, RuleResult>
}

export interface About {
  /** The request; several if they contradict each other. */
  exchange: Exchange | readonly Exchange[]
  expected: string
  /** By default, the answer. */
  seen?: string
}

/** The characters of a request or an answer that a report shows. */
const SHOWN_MAX = 160

export function createJudge(mask: Mask): Judge {
  const results = new Map<RuleName, RuleResult>()
  const shorten = (text: string) => {
    const plain = JSON.stringify(mask(text)).slice(1, -1).replaceAll('\\"', '"')
    return plain.length <= SHOWN_MAX ? plain : `${plain.slice(0, SHOWN_MAX - 1)}…`
  }

  return {
    results,
    expect(rule, holds, { exchange, expected, seen }) {
      const result = results.get(rule) ?? { checks: 0, findings: [] }
      results.set(rule, result)
      result.checks += 1
      if (holds) return
      const exchanges = [exchange].flat()
      const what = seen ?? exchanges.map(tellAnswer).join(', then ')
      const finding = {
        rule,
        ...RULES[rule],
        sent: exchanges.map(({ sent }) => shorten(tellRequest(sent))).join(', then '),
        expected,
        seen: shorten(what),
        more: 0,
      }
      const same = result.findings.find(
        (other) => other.expected === finding.expected && kindOf(other) === kindOf(finding),
      )
      if (same === undefined) result.findings.push(finding)
      else same.more += 1
    },
  }
}

/** What was seen, without counts and durations. */
function kindOf({ seen }: Finding): string {
  return seen.replaceAll(/[\d.]+ (of|ms)\b/g, '$1')
}

/** The first line and the fields that matter, without those that every request has. */
function tellRequest(sent: string): string {
  const [first = '', ...fields] = sent.replace(/\r\n\r\n$/, '').split('\r\n')
  const own = fields.filter((field) => !/^(Host|Connection|Accept): /.test(field))
  return [first.replace(/ HTTP\/1\.1$/, ''), ...own].join(' · ')
}

function tellAnswer({ answer, failure, surplus }: Exchange): string {
  if (answer === null) return failure ?? 'no answer'
  const more = surplus === '' ? '' : `, then ${surplus}`
  return `${answer.status} ${bodyOf(answer)}${more}`.trim()
}

function bodyOf({ body, fields }: Answer): string {
  const isJson = fields.get('content-type')?.[0]?.includes('json') ?? false
  return isJson || body.length < 60 ? body : `(${fields.get('content-type')?.[0] ?? 'no type'})`
}
