import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { App } from '../context.ts'

/** The parts of the style sheet of all pages, in the order of its layers. */
const STYLES = ['tokens', 'base', 'layout', 'parts', 'servers', 'print']
/** Separates the style sheet of all pages from those of some pages, which use its tokens. */
const CUT = '@layer cut;'

const [pagesCss = '', docsCss = '', keysCss = ''] = minify(
  'css',
  [readStyles(STYLES), readStyles(['docs']), readStyles(['keys'])].join(CUT),
).split(CUT)
const style = assetOf('style', 'css', pagesCss)
const docsStyle = assetOf('docs', 'css', docsCss)
const keysStyle = assetOf('keys', 'css', keysCss)
const script = assetOf('script', 'js', minify('js', read('script.js')))
const chartScript = assetOf('chart', 'js', minify('js', read('chart.js')))
const icons = assetOf('icons', 'svg', read('icons.svg'))

/** For the public pages of servers, which load nothing. */
export const PUBLIC_STYLE = minify('css', read('style/tokens.css') + read('public.css'))

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

function readStyles(names: readonly string[]): string {
  return names.map((name) => read(`style/${name}.css`)).join('')
}

function read(name: string): string {
  return readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8')
}

function assetOf(base: string, ending: Ending, text: string) {
  const tag = hash('sha256', text, 'hex').slice(0, 8)
  return { path: `/assets/${base}-${tag}.${ending}`, text, ending }
}

/** Removes spaces and comments. Safe for our files: a test compares their strings. */
function minify(ending: 'css' | 'js', source: string): string {
  if (ending === 'css')
    return shortenNames(
      withoutUnused(
        inlineSizes(
          source
            .replace(/\/\*.*?\*\//gs, '')
            .replace(/\s+/g, ' ')
            .replace(/ ?([{};,>]) ?/g, '$1')
            .replaceAll(': ', ':')
            .replace(/\b0\.(?=\d)/g, '.')
            .replaceAll(';}', '}')
            .replace(/::(?=before|after)/g, ':')
            .replaceAll(' / ', '/'),
        ),
      ),
    )
  // A literal comes first, so that its spaces stay.
  return source
    .replace(/^\s*(\/?\*.*|\/\/.*)?\n?/gm, '')
    .replace(/('[^'\n]*'|`[^`]*`)| (=>|[!=]==|[=<>+?:]|&&|\|\||\?\?) |([{,]) | (?=})/g, '$1$2$3')
}

/** Gives each custom property a name of one or two letters. No other file names them. */
function shortenNames(css: string): string {
  const names = [...new Set(css.match(/--[a-z][\w-]*/g))]
  const shortOf = new Map(names.map((name, index) => [name, `--${index.toString(36)}`]))
  return css.replace(/--[a-z][\w-]*/g, (name) => shortOf.get(name) ?? name)
}

/** Replaces each token that has one plain value by that value, which is shorter than its name. */
function inlineSizes(css: string): string {
  const definitions = [...css.matchAll(/(--[\w-]+):([^;{}]+)(?:;|(?=}))/g)]
  const valuesOf = Map.groupBy(definitions, ([, name]) => name)
  let inlined = css
  for (const [definition, name = '', value = ''] of definitions)
    if (valuesOf.get(name)?.length === 1 && !value.includes('('))
      inlined = inlined.replace(definition, '').replaceAll(`var(${name})`, value)
  return inlined
}

/** Removes the tokens that no rule uses. */
function withoutUnused(css: string): string {
  return css.replace(/(--[\w-]+):[^;{}]+(?:;|(?=}))/g, (definition, name) =>
    css.includes(`var(${name})`) ? definition : '',
  )
}
