import { findingsOf, notesOf, type Report } from '../conform.ts'
import { RULES } from '../rules.ts'

/** The report as one JSON document. */
export function jsonReport(report: Report): string {
  const document = {
    url: report.url,
    key: report.key,
    conforms: findingsOf(report).length === 0,
    requests: report.requests,
    seconds: Math.round(report.seconds),
    findings: findingsOf(report),
    notes: notesOf(report),
    rules: report.rules.map(({ rule, checks, findings }) => {
      const { section, text, isChoice = false } = RULES[rule]
      return { rule, section, text, choice: isChoice, checks, findings: findings.length }
    }),
    unchecked: report.unchecked.map(({ rule, reason }) => ({
      rule,
      section: RULES[rule].section,
      text: RULES[rule].text,
      reason,
    })),
  }
  return JSON.stringify(document, null, 2)
}
