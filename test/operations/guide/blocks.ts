import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '../../fixtures/tree.ts'

/** The page whose links are the parts of the guide, in the order in which they are run. */
const INDEX = 'docs/operations/README.md'

/** A page of the guide, or one of its sections. */
export interface Part {
  /** `docs/backup.md` or `docs/backup.md#point-in-time-recovery`. */
  name: string
  blocks: Block[]
}

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

/**
 * The parts of the guide, in the order of the index. A section with a link of its own is no part of
 * its page.
 */
export function guideParts(): Part[] {
  const index = readFileSync(join(ROOT, INDEX), 'utf8')
  const links = [...index.matchAll(/^\| \[[^\]]+\]\(([^)#]+\.md)(?:#([^)]+))?\)/gm)]
  const targets = links.map(([, file = '', section]) => ({
    page: join(dirname(INDEX), file),
    section,
  }))
  return targets.map(({ page, section }) => {
    if (section !== undefined)
      return { name: `${page}#${section}`, blocks: blocksOf(page, (each) => each === section) }
    const apart = new Set(
      targets.filter((other) => other.page === page).map((each) => each.section),
    )
    const isOwn: IsWanted = (each) => each === undefined || !apart.has(each)
    return { name: page, blocks: blocksOf(page, isOwn) }
  })
}

/** Whether to read the section with this anchor, or what stands before the first one. */
type IsWanted = (section: string | undefined) => boolean

/** The blocks of a page. */
export function blocksOf(page: string, isWanted?: IsWanted): Block[] {
  return readBlocks(readFileSync(join(ROOT, page), 'utf8'), page, isWanted)
}

/**
 * Reads the blocks of a Markdown text. A block `sh` has commands. A block `text` right after it has
 * their output. A comment `not run: …` right before a block has the reason. A comment `as root`
 * marks a block for the fresh Debian. Any other block fails, so that no command escapes the tests.
 */
export function readBlocks(
  markdown: string,
  page: string,
  isWanted: IsWanted = () => true,
): Block[] {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  let section: string | undefined
  for (let index = 0; index < lines.length; index += 1) {
    section = sectionAt(lines[index]!) ?? section
    const [, indent, language] = /^(\s*)```(.*)$/.exec(lines[index]!) ?? []
    if (indent === undefined || language === undefined) continue
    const at = `${page}:${index + 2}`
    const before = lines[index - 1] ?? ''
    const end = lines.indexOf(`${indent}\`\`\``, index + 1)
    assert.ok(end > index, `${at}: a block has no end`)
    const from = index + 1
    index = end
    if (!isWanted(section)) continue
    assert.equal(indent, '', `${at}: a block is indented`)
    const text = lines.slice(from, end).map((line) => `${line}\n`)
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
  }
  return blocks
}

/** The anchor of a section, if the line is its heading. */
function sectionAt(line: string): string | undefined {
  const heading = /^## (.+)/.exec(line)?.[1]
  return heading
    ?.toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}
