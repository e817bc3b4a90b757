/**
 * A pattern for what a block prints. `…` stands for any text of a line. A line of `…` alone stands
 * for any lines.
 */
export function patternOf(output: string): RegExp {
  const lines = output.split('\n').slice(0, -1)
  const patterns = lines.map((line) =>
    line === '…' ? '(?:.*\n)*?' : `${line.split('…').map(escaped).join('.*')}\n`,
  )
  return new RegExp(`^${patterns.join('')}$`)
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
