import assert from 'node:assert/strict'

/** The values of metrics, by name with labels. */
export type Samples = Map<string, number>

/** Reads the text format. Each sample must follow the lines that describe its family. */
export function samplesIn(text: string): Samples {
  const samples: Samples = new Map()
  let family = ''
  for (const line of text.trimEnd().split('\n')) {
    const described = /^# (?:HELP|TYPE) (\w+) \S/.exec(line)?.[1]
    if (described !== undefined) {
      family = described
      continue
    }
    const [, name = '', value] = /^(\w+(?:\{.*\})?) (\S+)$/.exec(line) ?? []
    assert.ok(name !== '' && name.startsWith(family), line)
    assert.ok(!samples.has(name), `two samples of ${name}`)
    samples.set(name, Number(value))
  }
  return samples
}
