import { findingsOf, notesOf, type Report } from '../conform.ts'
import type { Finding } from '../judge.ts'
import { RULES } from '../rules.ts'

/** The chapters of the specification, by the first number of a section. */
const CHAPTERS: Record<string, string> = {
  2: 'Resources and their fields',
  4: 'Endpoints',
  5: 'Authentication',
  7: 'Errors',
  8: 'Limits',
}

const WIDTH = Math.max(...Object.values(CHAPTERS).map(({ length }) => length))

/** The report for people: short if all is well. */
export function textReport(report: Report): string {
  const findings = findingsOf(report)
  const notes = notesOf(report)
  const contract = report.rules.filter(({ rule }) => !RULES[rule].isChoice)
  const verdict =
    findings.length === 0
      ? `${report.url} conforms to the specification.`
      : `${report.url} breaks the specification: ${countOf(findings.length, 'finding')}.`
  const facts = `${contract.length} rules, ${report.requests} requests, ${Math.round(report.seconds)} s`
  return [
    verdict,
    '',
    ...Object.keys(CHAPTERS).map((chapter) => chapterLine(chapter, report)),
    ...findings.flatMap((finding, index) => ['', ...findingLines(finding, index + 1)]),
    ...uncheckedLines(report),
    ...noteLines(notes),
    '',
    facts,
  ].join('\n')
}

function chapterLine(chapter: string, { rules }: Report): string {
  const own = rules.filter(
    ({ rule }) => RULES[rule].section.startsWith(chapter) && !RULES[rule].isChoice,
  )
  const found = own.reduce((sum, { findings }) => sum + findings.length, 0)
  const result = found === 0 ? 'ok' : countOf(found, 'finding')
  const name = CHAPTERS[chapter]!.padEnd(WIDTH + 2)
  const size = `${String(own.length).padStart(2)} ${own.length === 1 ? 'rule ' : 'rules'}`
  return `  ${chapter}  ${name}${size}   ${own.length === 0 ? 'not checked' : result}`
}

function findingLines({ rule, section, text, more, ...about }: Finding, number: number): string[] {
  return [
    `${number}. Section ${section}: ${text}`,
    `   rule      ${rule}`,
    `   sent      ${about.sent}`,
    `   expected  ${about.expected}`,
    `   seen      ${about.seen}${more === 0 ? '' : ` (and ${more} more)`}`,
  ]
}

function uncheckedLines({ unchecked }: Report): string[] {
  const lines = unchecked
    .filter(({ rule }) => !RULES[rule].isChoice)
    .map(({ rule, reason }) => `  ${RULES[rule].section}  ${RULES[rule].text}: ${reason}`)
  return lines.length === 0 ? [] : ['', 'Not checked', ...lines]
}

/** A difference may be right: the specification leaves the choice to each implementation. */
function noteLines(notes: readonly Finding[]): string[] {
  if (notes.length === 0) return []
  return [
    '',
    'Different from the reference implementation, where the specification is silent',
    ...[...Map.groupBy(notes, ({ rule }) => rule).values()].flatMap((same) => {
      const [{ section, text, seen, sent }] = same as [Finding]
      const more = same.reduce((sum, note) => sum + 1 + note.more, -1)
      const others = more === 0 ? '' : ` (and ${more} more)`
      return [
        `  ${section}  ${text}: ${seen}${others}`,
        `  ${' '.repeat(section.length)}  sent ${sent}`,
      ]
    }),
  ]
}

function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
