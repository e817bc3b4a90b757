/*
 * Renders the Markdown of our own documents: headings, paragraphs, lists, tables, code, bold text
 * and links to headings. It escapes everything else.
 */

const BLOCK = /^(#{1,4} |```|\||- |$)/

/** Each heading of the second level begins a section. */
export function renderMarkdown(text: string): string {
  const [before = '', ...sections] = text.split(/^(?=## )/m)
  const rendered = sections.map(
    (each) => `<section class="prose">${renderLines(each.split('\n'))}</section>`,
  )
  return [renderLines(before.split('\n')), ...rendered].join('\n')
}

function renderLines(lines: readonly string[]): string {
  const blocks: string[] = []
  let at = 0
  const takeWhile = (matches: (line: string) => boolean): string[] => {
    const start = at
    while (at < lines.length && matches(lines[at]!)) at += 1
    return lines.slice(start, at)
  }
  while (at < lines.length) {
    const line = lines[at]!
    if (line === '') at += 1
    else if (line.startsWith('#')) {
      blocks.push(heading(line))
      at += 1
    } else if (line.startsWith('```')) {
      at += 1
      blocks.push(code(takeWhile((each) => each !== '```')))
      at += 1
    } else if (line.startsWith('|')) blocks.push(table(takeWhile((each) => each.startsWith('|'))))
    else if (line.startsWith('- '))
      blocks.push(list(takeWhile((each) => /^(- | {2}|$)/.test(each))))
    else {
      at += 1
      blocks.push(`<p>${inline([line, ...takeWhile((each) => !BLOCK.test(each))].join('\n'))}</p>`)
    }
  }
  return blocks.join('\n')
}

function heading(line: string): string {
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
function table([head = '', , ...rows]: readonly string[]): string {
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
function list(lines: readonly string[]): string {
  const items: string[][] = []
  for (const line of lines)
    if (line.startsWith('- ')) items.push([line.slice(2)])
    else items.at(-1)!.push(line.slice(2))
  const rendered = items.map((item) => `<li>${renderLines(item)}</li>`)
  return `<ul>${rendered.join('\n')}</ul>`
}

function inline(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.startsWith('`')
        ? `<code>${escapeHtml(part.slice(1, -1))}</code>`
        : escapeHtml(part)
            .replace(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')
            .replace(/\[([^\]]+)\]\((#[\w-]+)\)/g, '<a href="$2">$1</a>'),
    )
    .join('')
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
