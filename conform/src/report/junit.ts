import type { Report } from '../conform.ts'
import type { Finding } from '../judge.ts'
import { RULES, type RuleName } from '../rules.ts'

/**
 * The report as JUnit XML: one test case per rule. A choice of an implementation never fails; its
 * differences are output of the case.
 */
export function junitReport(report: Report): string {
  const cases = [
    ...report.rules.map(({ rule, findings }) => caseOf(rule, bodyOf(rule, findings))),
    ...report.unchecked.map(({ rule, reason }) =>
      caseOf(rule, [`      <skipped message="${escapeXml(reason)}"/>`]),
    ),
  ]
  const failures = report.rules.filter(
    ({ rule, findings }) => !RULES[rule].isChoice && findings.length > 0,
  ).length
  const counts =
    `tests="${cases.length}" failures="${failures}" errors="0" ` +
    `skipped="${report.unchecked.length}" time="${report.seconds.toFixed(3)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="server-listing conform" ${counts}>`,
    `  <testsuite name="${escapeXml(report.url)}" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
  ].join('\n')
}

function caseOf(rule: RuleName, body: readonly string[]): string {
  const { section, text } = RULES[rule]
  const attributes = `classname="section ${section}.${rule}" name="${escapeXml(text)}"`
  if (body.length === 0) return `    <testcase ${attributes}/>`
  return [`    <testcase ${attributes}>`, ...body, '    </testcase>'].join('\n')
}

function bodyOf(rule: RuleName, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return []
  const text = escapeXml(findings.map(tell).join('\n\n'))
  if (RULES[rule].isChoice) return [`      <system-out>${text}</system-out>`]
  return [`      <failure message="${escapeXml(findings[0]!.seen)}">${text}</failure>`]
}

function tell({ sent, expected, seen, more }: Finding): string {
  return `sent: ${sent}\nexpected: ${expected}\nseen: ${seen}${more === 0 ? '' : ` (and ${more} more)`}`
}

/** Characters that XML 1.0 does not allow are spelled out. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, (character) => {
      return `\\u{${character.codePointAt(0)!.toString(16)}}`
    })
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
