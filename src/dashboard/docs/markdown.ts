import { Marked, type RendererObject, type Token, type Tokens } from 'marked'

/*
 * Renders the Markdown of our own documents. It leaves out comments and escapes all other HTML.
 */

/** The address of a linked document, or null for text without a link. */
export type LinkFrom = (target: string) => string | null

/** Each heading of the second level begins a section. */
export function renderMarkdown(text: string, linkFrom: LinkFrom = () => null): string {
  const marked = new Marked({ renderer: rendererFor(linkFrom) })
  const [before = '', ...sections] = text.split(/^(?=## )/m)
  const rendered = sections.map(
    (each) => `<section class="prose">${marked.parse(each, { async: false })}</section>`,
  )
  return [marked.parse(before, { async: false }), ...rendered].join('\n')
}

function rendererFor(linkFrom: LinkFrom): RendererObject {
  return {
    heading({ depth, text, tokens }) {
      return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },

    code: ({ text }) => `<div class="code"><pre tabindex="0">${escapeHtml(text)}</pre></div>\n`,

    table({ header, rows }) {
      const cell =
        (tag: string) =>
        ({ tokens }: Tokens.TableCell) =>
          `<${tag}>${this.parser.parseInline(tokens)}</${tag.slice(0, 2)}>`
      const head = header.map(cell('th scope="col"')).join('')
      const body = rows.map((row) => `<tr>${row.map(cell('td')).join('')}</tr>`).join('\n')
      const label = `Table: ${header.map((one) => textOf(one.tokens)).join(', ')}`
      return `<div class="table" tabindex="0" role="region" aria-label="${escapeHtml(label)}"><table><thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table></div>\n`
    },

    link({ href, tokens }) {
      const label = this.parser.parseInline(tokens)
      const target = href.startsWith('#') ? href : linkFrom(href)
      return target === null ? label : `<a href="${escapeHtml(target)}">${label}</a>`
    },

    html: ({ text }) => (text.trimStart().startsWith('<!--') ? '' : escapeHtml(text)),
  }
}

function idOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map((token) => ('text' in token ? token.text : token.raw)).join('')
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
