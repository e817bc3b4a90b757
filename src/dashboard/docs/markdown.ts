import { Marked, type RendererObject, type Token, type Tokens } from 'marked'
import { ICONS_PATH } from '../../web/html/assets.ts'

/*
 * Renders the Markdown of our own documents. It leaves out comments and escapes all other HTML.
 */

/** The address of a linked document, or null for text without a link. */
export type LinkFrom = (target: string) => string | null

/** A heading of the second level, in HTML. */
export interface Heading {
  id: string
  label: string
}

export interface Rendered {
  html: string
  headings: Heading[]
}

/** Each heading of the second level begins a section. */
export function renderMarkdown(text: string, linkFrom: LinkFrom = () => null): Rendered {
  const headings: Heading[] = []
  const marked = new Marked({ renderer: rendererFor(linkFrom, headings) })
  const [before = '', ...sections] = text.split(/^(?=## )/m)
  const rendered = sections.map(
    (each) => `<section class="prose">${marked.parse(each, { async: false })}</section>`,
  )
  return { html: [marked.parse(before, { async: false }), ...rendered].join('\n'), headings }
}

/** What a reader calls the language of a block. */
const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  json: 'JSON',
  text: 'Output',
}

const COPY_ICON = `<svg class="icon" aria-hidden="true"><use href="${ICONS_PATH}#copy"/></svg>`

function rendererFor(linkFrom: LinkFrom, headings: Heading[]): RendererObject {
  let blocks = 0
  return {
    /**
     * The link of a section shows below a pointer. The list of contents has it for everyone. No
     * page has room for links at smaller headings.
     */
    heading({ depth, text, tokens }) {
      const id = idOf(text)
      const label = this.parser.parseInline(tokens)
      if (depth !== 2) return `<h${depth} id="${id}">${label}</h${depth}>\n`
      headings.push({ id, label })
      return `<h2 id="${id}"><a href="#${id}" aria-hidden="true" tabindex="-1"></a>${label}</h2>\n`
    },

    /** Only the script shows the button that copies. A browser must not translate code. */
    code({ text, lang }) {
      blocks += 1
      const id = `block-${blocks}`
      const language = LANGUAGES[lang || 'text'] ?? String(lang)
      return `<div class="code"><div><span id="${id}-label" class="hint">${escapeHtml(language)}<span class="unseen">, block ${blocks}</span></span><button type="button" class="quiet" data-copy="${id}" hidden>${COPY_ICON}<span>Copy</span><span class="unseen">: block ${blocks}</span></button></div>
<pre id="${id}" tabindex="0" role="textbox" aria-readonly="true" aria-labelledby="${id}-label" translate="no">${escapeHtml(text)}</pre></div>\n`
    },

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
