import type { Results } from '../../bench/results.ts'
import { isMet } from '../../bench/table.ts'

const COMMANDS: Record<string, string> = { sqlite: 'npm run bench' }

/** Markdown: where a suite ran, and each of its results beside the target. */
export function tableOfResults({ suite, date, commit, machine, versions, results }: Results) {
  const command = COMMANDS[suite] ?? `npm run bench -- ${suite}`
  const { processors, processor, 'memory in GiB': memory } = machine
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const rows = results.map(({ measured, value, target }) => {
    const [relation, number = '', unit = ''] = target.split(' ')
    const shown = `${Number(value.toPrecision(digitsFor(number)))} ${unit}`.trim()
    const met = isMet([measured, value, target as `≥ ${string}`]) ? 'yes' : '**no**'
    return `| ${measured} | ${shown} | ${relation} ${number} ${unit}`.trim() + ` | ${met} |`
  })
  return [
    `### \`${command}\``,
    wrapped(
      `${date}, commit ${commit}, on ${processors} processors (${processor}) with ${memory} GiB, ` +
        `with ${software.join(', ')}:`,
    ),
    ['| measured | value | target | met |', '|---|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')
}

/** At least three significant digits, and one more than a fractional target has: 1.005 and 1.01. */
function digitsFor(target: string): number {
  const digits = target.includes('.') ? target.replace(/^0\.0*|\./, '').length : 0
  return Math.max(3, digits + 1)
}

/** Lines of at most 100 columns. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,100})(?: |$)/g, '$1\n').trim()
}
