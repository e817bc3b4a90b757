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
    const shown = `${Number(value.toPrecision(3))} ${unit}`.trim()
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

/** Lines of at most 100 columns. */
function wrapped(text: string): string {
  return text.replaceAll(/(.{1,100})(?: |$)/g, '$1\n').trim()
}
