type Values = Readonly<Record<string, number>>

/** A printed table. A row has its name, and its values by column. */
export interface Table {
  title: string
  rows: { name: string; values: Values }[]
}

/** All tables that this run has printed, for the file of its results. */
export const printed: Table[] = []

/** Prints a title. The returned function prints a row; the first one brings the headings. */
export function openTable(
  title: string,
  label: string,
): (name: string, values: Values, note?: string) => void {
  console.log(title)
  const table: Table = { title, rows: [] }
  printed.push(table)
  let heads: readonly string[] = []
  const line = (first: string, cells: readonly string[]) =>
    first.padStart(7) +
    cells.map((cell, at) => cell.padStart(Math.max(10, heads[at]!.length + 3))).join('')
  return (name, values, note = '') => {
    if (heads.length === 0) {
      heads = Object.keys(values)
      console.log(line(label, heads))
    }
    console.log(line(name, Object.values(values).map(shorten)) + note)
    table.rows.push({ name, values })
  }
}

/** A number with about three digits that count. */
function shorten(value: number): string {
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : 3)
}

/** What was measured, its value, and its target with the unit of both. */
export type Result = readonly [measured: string, value: number, target: `${Relation} ${string}`]
type Relation = '≥' | '≤' | '<'

/** Prints all results. True if each meets its target. */
export function printResults(results: readonly Result[]): boolean {
  console.log()
  printResult('', 'measured', 'target', 'met')
  for (const result of results) {
    const [measured, value, target] = result
    const unit = target.split(' ')[2] ?? ''
    const shown = unit === '' ? value.toFixed(3) : `${value.toFixed(1)} ${unit}`
    printResult(measured, shown, target, isMet(result) ? 'yes' : 'NO')
  }
  return results.every(isMet)
}

export function isMet([, value, target]: Result): boolean {
  const [relation, number] = target.split(' ')
  const bound = Number(number)
  if (relation === '≥') return value >= bound
  return relation === '≤' ? value <= bound : value < bound
}

function printResult(measured: string, value: string, target: string, met: string): void {
  console.log(`${measured.padEnd(68)}${value.padStart(12)}${target.padStart(13)}  ${met}`)
}
