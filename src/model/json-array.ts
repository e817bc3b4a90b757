/**
 * A JSON array in parts: together they are what `JSON.stringify(values, null, 2)` returns, and a
 * line end. A part without values is empty.
 */
export function jsonArray(): { add(values: readonly unknown[]): string; end(): string } {
  let separator = '[\n'
  return {
    add(values) {
      if (values.length === 0) return ''
      const items = values.map((value) => JSON.stringify([value], null, 2).slice(2, -2))
      const part = separator + items.join(',\n')
      separator = ',\n'
      return part
    },

    end: () => (separator === '[\n' ? '[]\n' : '\n]\n'),
  }
}
