import assert from 'node:assert/strict'

/** A fenced block of a document. */
export interface CodeBlock {
  /** The document and the line of the block's first line: `docs/api.md:12`. */
  at: string
  language: string
  text: string
  /** Why the block is not run, from a comment `not run: …` right before it; else null. */
  notRun: string | null
}

/** Reads the blocks of a Markdown text, indented ones too. */
export function codeBlocksOf(markdown: string, page: string): CodeBlock[] {
  const lines = markdown.split('\n')
  const blocks: CodeBlock[] = []
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent, language] = /^(\s*)```(.*)$/.exec(lines[index]!) ?? []
    if (indent === undefined || language === undefined) continue
    const at = `${page}:${index + 2}`
    const end = lines.indexOf(`${indent}\`\`\``, index + 1)
    assert.ok(end > index, `${at}: a block has no end`)
    const notRun = /^\s*<!-- not run: (.+) -->$/.exec(lines[index - 1] ?? '')?.[1] ?? null
    const text = lines.slice(index + 1, end).map((line) => `${line.slice(indent.length)}\n`)
    blocks.push({ at, language, text: text.join(''), notRun })
    index = end
  }
  return blocks
}
