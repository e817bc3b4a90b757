import { Marked, type Token, type Tokens } from 'marked'

/*
 * Reads a document as GitHub shows it: its headings with their anchors, and its links.
 */

export interface Document {
  /** Relative to the root of the repository. */
  path: string
  /** The anchor of each heading. */
  anchors: string[]
  /** The targets of links and images, as written. */
  links: string[]
}

const marked = new Marked({ gfm: true })

export function readDocument(path: string, text: string): Document {
  const links: string[] = []
  const anchors: string[] = []
  const seen = new Map<string, number>()
  void marked.walkTokens(marked.lexer(text), (token) => {
    if (token.type === 'link' || token.type === 'image') links.push((token as Tokens.Link).href)
    if (token.type !== 'heading') return
    const anchor = anchorOf(plainText((token as Tokens.Heading).tokens))
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    anchors.push(times === 0 ? anchor : `${anchor}-${times}`)
  })
  return { path, anchors, links }
}

/** The anchor that GitHub gives a heading. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}

/** The text without its markup. */
function plainText(tokens: readonly Token[]): string {
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
