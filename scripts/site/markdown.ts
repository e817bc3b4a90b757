import { Marked, type Token, type Tokens } from 'marked'

/*
 * Reads a document as GitHub shows it: its headings with their anchors, and its links.
 */

export interface Document {
  /** Relative to the root of the repository. */
  path: string
  title: string
  headings: Heading[]
  /** The targets of links and images, as written. */
  links: string[]
  tokens: Token[]
}

export interface Heading {
  level: number
  text: string
  anchor: string
}

const marked = new Marked({ gfm: true })

export function readDocument(path: string, text: string): Document {
  const tokens = marked.lexer(text)
  const links: string[] = []
  const headings: Heading[] = []
  const seen = new Map<string, number>()
  void marked.walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') links.push((token as Tokens.Link).href)
    if (token.type !== 'heading') return
    const heading = token as Tokens.Heading
    const words = plainText(heading.tokens)
    const anchor = anchorOf(words)
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    const unique = times === 0 ? anchor : `${anchor}-${times}`
    headings.push({ level: heading.depth, text: words, anchor: unique })
  })
  const title = headings.find(({ level }) => level === 1)?.text ?? path
  return { path, title, headings, links, tokens }
}

/** The anchor that GitHub gives a heading. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}

/** The text without its markup. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens !== undefined
        ? plainText(token.tokens)
        : 'text' in token
          ? String(token.text)
          : '',
    )
    .join('')
}

/** The document in HTML. `hrefOf` says where a link leads. */
export function renderDocument(
  { tokens, headings, path }: Document,
  hrefOf: (target: string) => string,
): string {
  let next = 0
  const renderer = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens: inline, depth }) {
        const { anchor } = headings[next]!
        next += 1
        const link =
          depth === 1
            ? ''
            : ` <a class="anchor" href="#${anchor}" aria-hidden="true" tabindex="-1">#</a>`
        return `<h${depth} id="${anchor}">${this.parser.parseInline(inline)}${link}</h${depth}>\n`
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
      table({ header, rows }) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag.slice(0, 2)}>`)
        const label = `Table: ${header.map(({ tokens: cell }) => plainText(cell)).join(', ')}`
        const body = rows.map((row) => `<tr>${cells(row, 'td').join('')}</tr>`).join('\n')
        const isNamed = header.some(({ text }) => text !== '')
        const head = isNamed
          ? `<thead><tr>${cells(header, 'th scope="col"').join('')}</tr></thead>`
          : ''
        return `<div class="table" tabindex="0" role="group" aria-label="${escapeHtml(label)}"><table>${head}
<tbody>${body}</tbody></table></div>\n`
      },
      link({ href, tokens: inline }) {
        return `<a href="${escapeHtml(hrefOf(href))}">${this.parser.parseInline(inline)}</a>`
      },
      image: ({ href, text }) =>
        `<img src="${escapeHtml(hrefOf(href))}" alt="${escapeHtml(text)}" loading="lazy">`,
      html({ text }) {
        if (/^<!--.*-->\s*$/s.test(text)) return ''
        throw new Error(`${path} has HTML: ${text}`)
      },
    },
  })
  return renderer.parser([...tokens])
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
