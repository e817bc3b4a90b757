import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '../../fixtures/tree.ts'

/** The page whose links are the pages of the guide, in the order in which they are run. */
export const INDEX = 'docs/operations/README.md'

/** A block of commands on a page of the guide. */
export interface Block {
  /** The page and the line of the first command: `docs/backup.md:12`. */
  at: string
  commands: string
  /** What the commands print, if the page shows it. */
  output: string | null
  /** Why the block is not run; null for one that is run. */
  notRun: string | null
  /** True for a block that changes the whole machine. */
  asRoot: boolean
}

/** The pages of the guide, in the order of the index. */
export function guidePages(): string[] {
  const index = readFileSync(join(ROOT, INDEX), 'utf8')
  const links = [...index.matchAll(/^\| \[[^\]]+\]\(([^)#]+\.md)\)/gm)]
  return links.map(([, target = '']) => join(dirname(INDEX), target))
}

/** The blocks of a page. */
export function blocksOf(page: string): Block[] {
  return readBlocks(readFileSync(join(ROOT, page), 'utf8'), page)
}

/**
 * Reads the blocks of a Markdown text. A block `sh` has commands. A block `text` right after it has
 * their output. A comment `not run: …` right before a block has the reason. A comment `as root`
 * marks a block for the fresh Debian. Any other block fails, so that no command escapes the tests.
 */
export function readBlocks(markdown: string, page: string): Block[] {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent, language] = /^(\s*)```(.*)$/.exec(lines[index]!) ?? []
    if (language === undefined) continue
    const at = `${page}:${index + 2}`
    const before = lines[index - 1] ?? ''
    const end = lines.indexOf('```', index + 1)
    assert.ok(indent === '' && end > index, `${at}: a block is indented or has no end`)
    const text = lines.slice(index + 1, end).map((line) => `${line}\n`)
    if (language === 'sh') {
      const notRun = /^<!-- not run: (.+) -->$/.exec(before)?.[1] ?? null
      const asRoot = before === '<!-- as root -->'
      blocks.push({ at, commands: text.join(''), output: null, notRun, asRoot })
    } else {
      assert.equal(language, 'text', `${at}: a block must be sh or text`)
      const last = blocks.at(-1)
      assert.ok(last?.output === null && before === '', `${at}: a text must follow its commands`)
      last.output = text.join('')
    }
    index = end
  }
  return blocks
}
