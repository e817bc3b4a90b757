import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Report } from '../src/conform.ts'
import { createJudge } from '../src/judge.ts'
import { createMask } from '../src/mask.ts'
import { jsonReport } from '../src/report/json.ts'
import { junitReport } from '../src/report/junit.ts'
import { textReport } from '../src/report/text.ts'
import { RULES } from '../src/rules.ts'
import type { Exchange } from '../src/wire/connection.ts'
import { ROOT } from '../../test/fixtures/tree.ts'

const KEY = `svc_live_${'ab12'.repeat(16)}`

function exchangeOf(sent: string, status: number, body: string): Exchange {
  const fields = new Map([['content-type', ['application/json']]])
  return { sent, t0: 0, t1: 1, answer: { status, fields, body }, failure: null, surplus: '' }
}

/** A run with one finding that two requests showed, and one note. */
function sampleReport(): Report {
  const judge = createJudge(createMask([KEY]))
  const lower = exchangeOf(
    `GET /v1/servers HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nConnection: close\r\nAuthorization: bearer ${KEY}\r\n\r\n`,
    401,
    `{"error":"No <key> ${KEY.toUpperCase()} & \\u0000"}`,
  )
  judge.expect('scheme-case', false, { exchange: lower, expected: '200' })
  judge.expect('scheme-case', false, { exchange: lower, expected: '200' })
  judge.expect('health', true, { exchange: lower, expected: '200' })
  judge.expect('no-store', false, {
    exchange: lower,
    expected: 'no-store',
    seen: 'no Cache-Control',
  })
  return {
    url: 'https://api.example.com',
    key: 'svc_live_ab12ab1…',
    rules: [...judge.results].map(([rule, result]) => ({ rule, ...result })),
    unchecked: [{ rule: 'revoked', reason: 'it needs --revoke-command' }],
    requests: 12,
    seconds: 7.2,
    failure: null,
  }
}

test('the text report tells what was sent, expected and seen, without the key', () => {
  assert.equal(
    textReport(sampleReport()),
    `\
https://api.example.com breaks the specification: 1 finding.

  2  Resources and their fields   0 rules   not checked
  4  Endpoints                    1 rule    ok
  5  Authentication               1 rule    1 finding
  7  Errors                       0 rules   not checked
  8  Limits                       0 rules   not checked

1. Section 5.1: the scheme word is case-insensitive
   rule      scheme-case
   sent      GET /v1/servers · Authorization: bearer svc_live_ab12ab1…
   expected  200
   seen      401 {"error":"No <key> svc_live_ab12ab1… & \\\\u0000"} (and 1 more)

Not checked
  5.3  a revoked key gets 401 at once, and never a 200 again: it needs --revoke-command

Different from the reference implementation, where the specification is silent
  7  each answer has \`Cache-Control: no-store\`: no Cache-Control
     sent GET /v1/servers · Authorization: bearer svc_live_ab12ab1…

2 rules, 12 requests, 7 s`,
  )
})

test('a run without a finding has a report of a few lines', () => {
  const report = sampleReport()
  const rules = report.rules.filter(({ findings }) => findings.length === 0)
  const lines = textReport({ ...report, rules, unchecked: [] }).split('\n')
  assert.equal(lines[0], 'https://api.example.com conforms to the specification.')
  assert.equal(lines.length, 9)
})

test('the JSON report separates findings from notes', () => {
  const { conforms, findings, notes, rules, unchecked } = JSON.parse(jsonReport(sampleReport()))
  assert.equal(conforms, false)
  assert.deepEqual(
    [findings, notes].map((list) => list.map(({ rule }: { rule: string }) => rule)),
    [['scheme-case'], ['no-store']],
  )
  assert.equal(findings[0].more, 1)
  assert.deepEqual(rules[0], {
    rule: 'scheme-case',
    section: '5.1',
    text: 'the scheme word is case-insensitive',
    choice: false,
    checks: 2,
    findings: 1,
  })
  assert.equal(unchecked[0].rule, 'revoked')
})

test('the JUnit report is well-formed XML, and a note is no failure', () => {
  const xml = junitReport(sampleReport())
  assert.match(xml, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites /)
  assert.match(xml, /tests="4" failures="1" errors="0" skipped="1" time="7\.200"/)
  assert.match(
    xml,
    /<failure message="401 \{&quot;error&quot;:&quot;No &lt;key&gt; svc_live_ab12ab1…/,
  )
  assert.match(xml, /<system-out>.*\n.*\nseen: no Cache-Control<\/system-out>/)
  assert.match(xml, /<skipped message="it needs --revoke-command"\/>/)
  assert.ok(!xml.includes('\0'))
  const open = [...xml.matchAll(/<(\/?)([a-z-]+)(?: [\w-]+="[^"<]*")*(\/?)>/g)]
  const depth = open.reduce((sum, [, end, , single]) => sum + (end ? -1 : single ? 0 : 1), 0)
  assert.equal(depth, 0)
})

test('no part of a key longer than its prefix is in a report, in any form', () => {
  const mask = createMask([KEY])
  const basic = Buffer.from(`${KEY}:`).toString('base64')
  const forms = [
    KEY,
    KEY.slice(0, -1),
    `${KEY}0`,
    KEY.toUpperCase(),
    `x="${KEY}"`,
    `Basic ${basic}`,
  ]
  for (const form of forms) {
    const masked = mask(form)
    assert.ok(!masked.toLowerCase().includes(KEY.slice(0, 17)), masked)
    assert.ok(!masked.includes(basic.slice(0, 30)), masked)
  }
  assert.equal(mask(`a ${KEY}, b`), 'a svc_live_ab12ab1…, b')
})

test('docs/conformance.md lists each rule, and choices apart', () => {
  const page = readFileSync(join(ROOT, 'docs/conformance.md'), 'utf8')
  const [contract = '', choices = ''] = page.split('\n## Choices\n')
  assert.deepEqual(rows(contract), expected(false))
  assert.deepEqual(rows(choices), expected(true))
})

/** The rows of the tables with a section, a name and a text. */
function rows(text: string): string[][] {
  return [...text.matchAll(/^\| ([\d.]+) \| `([a-z\d-]+)` \| (.*) \|$/gm)].map((row) =>
    row.slice(1),
  )
}

function expected(isChoice: boolean): string[][] {
  return Object.entries(RULES)
    .filter(([, rule]) => (rule.isChoice ?? false) === isChoice)
    .map(([name, { section, text }]) => [section, name, text])
}
