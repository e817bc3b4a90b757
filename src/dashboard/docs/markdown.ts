/*
 * Renders the Markdown of our own documents: headings, paragraphs, lists, tables, code, bold text
 * and links. It leaves out comments and escapes everything else.
 */

const BLOCK = /^(#{1,4} |```|\||- |1\. |<!--|$)/
const BULLET = /^- /
const NUMBER = /^\d\. /

/** The address of a linked document, or null for text without a link. */
export type LinkFrom = (target: string) => string | null

/** Each heading of the second level begins a section. */
export function renderMarkdown(text: string, linkFrom: LinkFrom = () => null): string {
  const [before = '', ...sections] = text.split(/^(?=## )/m)
  const rendered = sections.map(
    (each) => `<section class="prose">${renderLines(each.split('\n'), linkFrom)}</section>`,
  )
  return [renderLines(before.split('\n'), linkFrom), ...rendered].join('\n')
}

function renderLines(lines: readonly string[], linkFrom: LinkFrom): string {
  const inline = (text: string) => renderInline(text, linkFrom)
  const blocks: string[] = []
  let at = 0
  const takeWhile = (matches: (line: string) => boolean): string[] => {
    const start = at
    while (at < lines.length && matches(lines[at]!)) at += 1
    return lines.slice(start, at)
  }
  while (at < lines.length) {
    const line = lines[at]!
    if (line === '' || line.startsWith('<!--')) at += 1
    else if (line.startsWith('#')) {
      blocks.push(heading(line, inline))
      at += 1
    } else if (line.startsWith('```')) {
      at += 1
      blocks.push(code(takeWhile((each) => each !== '```')))
      at += 1
    } else if (line.startsWith('|'))
      blocks.push(
        table(
          takeWhile((each) => each.startsWith('|')),
          inline,
        ),
      )
    else if (BULLET.test(line) || NUMBER.test(line)) {
      const [mark, tag] = BULLET.test(line) ? ([BULLET, 'ul'] as const) : ([NUMBER, 'ol'] as const)
      const items = takeWhile((each) => mark.test(each) || /^( {2}|$)/.test(each))
      blocks.push(list(items, mark, tag, linkFrom))
    } else {
      at += 1
      blocks.push(`<p>${inline([line, ...takeWhile((each) => !BLOCK.test(each))].join('\n'))}</p>`)
    }
  }
  return blocks.join('\n')
}

type Inline = (text: string) => string

function heading(line: string, inline: Inline): string {
  const [marks = '', ...words] = line.split(' ')
  const text = words.join(' ')
  const id = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `<h${marks.length} id="${id}">${inline(text)}</h${marks.length}>`
}

function code(lines: readonly string[]): string {
  return `<div class="code"><pre tabindex="0">${escapeHtml(lines.join('\n'))}</pre></div>`
}

/** The second row only separates the head from the body. */
function table([head = '', , ...rows]: readonly string[], inline: Inline): string {
  const columns = cellsOf(head).map((cell) => `<th scope="col">${inline(cell)}</th>`)
  const body = rows.map((row) => {
    const cells = cellsOf(row).map((cell) => `<td>${inline(cell)}</td>`)
    return `<tr>${cells.join('')}</tr>`
  })
  const label = `Table: ${cellsOf(head).join(', ').replaceAll('`', '')}`
  return `<div class="table" tabindex="0" role="region" aria-label="${escapeHtml(label)}"><table><thead><tr>${columns.join('')}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>`
}

function cellsOf(row: string): string[] {
  return row
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim())
}

/** An item may go on in indented lines, which may contain blocks of their own. */
function list(
  lines: readonly string[],
  mark: RegExp,
  tag: 'ul' | 'ol',
  linkFrom: LinkFrom,
): string {
  const items: string[][] = []
  for (const line of lines)
    if (mark.test(line)) items.push([line.replace(mark, '')])
    else items.at(-1)!.push(line.replace(/^ {2,3}/, ''))
  const rendered = items.map((item) => `<li>${renderLines(item, linkFrom)}</li>`)
  return `<${tag}>${rendered.join('\n')}</${tag}>`
}

function renderInline(text: string, linkFrom: LinkFrom): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.startsWith('`')
        ? `<code>${escapeHtml(part.slice(1, -1))}</code>`
        : escapeHtml(part)
            .replace(/\*\*(.+?)\*\*/gs, '<strong>$1</strong>')
            .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, label, target) =>
              linked(label, target, linkFrom),
            ),
    )
    .join('')
}

function linked(label: string, target: string, linkFrom: LinkFrom): string {
  const href = target.startsWith('#') ? target : linkFrom(target)
  return href === null ? label : `<a href="${href}">${label}</a>`
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
