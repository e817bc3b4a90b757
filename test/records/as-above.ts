/**
 * Prints what several outputs share once. Of an output or a paragraph that came before, the first
 * line remains, and of a long table the lines that differ. Lines that are wrapped elsewhere and
 * wider columns are the same text. JSON stays whole.
 */
export function createShortener(): (output: string) => string {
  const outputs = new Map<string, string>()
  const paragraphs = new Map<string, string>()
  return (output) =>
    differenceFrom(outputs, output) ??
    output
      .split('\n\n')
      .map((paragraph) => differenceFrom(paragraphs, paragraph) ?? paragraph)
      .join('\n\n')
}

/** Shorter texts are printed again. */
const LINES_MIN = 4
const TABLE_LINES_MIN = 20

/** What differs from the first text with this first line. Null if that is not less. */
function differenceFrom(known: Map<string, string>, text: string): string | null {
  const lines = linesOf(text)
  const title = plain(lines[0]!)
  const first = known.get(title)
  if (first === undefined) known.set(title, text)
  if (first === undefined || lines.length < LINES_MIN || !/^\w/.test(title)) return null
  if (plain(first) === plain(text)) return `${title} (as above)`
  const before = linesOf(first)
  if (lines.length < TABLE_LINES_MIN || lines.length !== before.length) return null
  const differing = lines.filter((line, index) => plain(line) !== plain(before[index]!))
  return [`${title} (as above, but)`, ...differing].join('\n')
}

function linesOf(text: string): string[] {
  return text.trimEnd().split('\n')
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
