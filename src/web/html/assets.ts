import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { App } from '../context.ts'

/** The parts of the style sheet of all pages, in the order of its layers. */
const STYLES = ['tokens', 'base', 'layout', 'parts', 'servers', 'print']

const style = assetOf('style', 'css', readStyles(STYLES))
const docsStyle = assetOf('docs', 'css', readStyles(['docs']))
const keysStyle = assetOf('keys', 'css', readStyles(['keys']))
const script = assetOf('script', 'js', read('script.js'))
const chartScript = assetOf('chart', 'js', read('chart.js'))
const icons = assetOf('icons', 'svg', read('icons.svg'))

/** For the public pages of servers, which load nothing. */
export const PUBLIC_STYLE = readStyles(['tokens', '../public'])

/** Paths contain a hash of the file, so that browsers can cache it forever. */
export const STYLE_PATH = style.path
/** Only for the documents, beside the style sheet of all pages. */
export const DOCS_STYLE_PATH = docsStyle.path
/** Only for the pages of keys, the same. */
export const KEYS_STYLE_PATH = keysStyle.path
export const SCRIPT_PATH = script.path
/** Only for the pages with charts. */
export const CHART_SCRIPT_PATH = chartScript.path
/** The site's icon. It also holds a symbol for each `IconName`. */
export const ICONS_PATH = icons.path

const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}
type Ending = keyof typeof TYPES

/**
 * What browsers without SVG icons and phones ask for by themselves, so that no page has to name it:
 * `npm run icons` draws both.
 */
const PICTURES = [
  { path: '/favicon.ico', type: 'image/x-icon' },
  { path: '/apple-touch-icon.png', type: 'image/png' },
] as const

const ASSETS = [style, docsStyle, keysStyle, script, chartScript, icons]

export function addAssets(app: App): void {
  for (const { path, type } of PICTURES) {
    const bytes = readFileSync(new URL(`./assets${path}`, import.meta.url))
    app.get(path, (c) =>
      c.body(bytes, 200, { 'Content-Type': type, 'Cache-Control': 'public, max-age=86400' }),
    )
  }
  for (const { path, text, ending } of ASSETS)
    app.get(path, (c) =>
      c.body(text, 200, {
        'Content-Type': TYPES[ending],
        'Cache-Control': 'public, max-age=31536000, immutable',
      }),
    )
}

/** Without the spaces of the layout, too. */
function readStyles(names: readonly string[]): string {
  const text = names.map((name) => read(`style/${name}.css`)).join('')
  return text.replace(/\s*([{},:;])\s+/g, '$1')
}

/** Without comments and indentation. A test compares the strings of the scripts. */
function read(name: string): string {
  return readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8')
    .replace(/\/\*.*?\*\/|^\s*\/\/[^\n]*/gms, '')
    .replace(/\n\s*/g, '\n')
}

function assetOf(base: string, ending: Ending, text: string) {
  const tag = hash('sha256', text, 'hex').slice(0, 8)
  return { path: `/assets/${base}-${tag}.${ending}`, text, ending }
}
