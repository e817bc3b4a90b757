import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { App } from '../context.ts'

/** The parts of the style sheet, in the order of its layers. */
const STYLES = ['tokens', 'base', 'layout', 'parts', 'servers', 'keys', 'docs']

const style = assetOf('style', 'css', STYLES.map((name) => read(`style/${name}.css`)).join(''))
const script = assetOf('script', 'js', read('script.js'))
const arrivalScript = assetOf('arrival', 'js', read('arrival.js'))
const icons = assetOf('icons', 'svg', read('icons.svg'))

/** For the public pages of servers, which load nothing. */
export const PUBLIC_STYLE = minify('css', read('style/tokens.css') + read('public.css'))

/** Paths contain a hash of the file, so that browsers can cache it forever. */
export const STYLE_PATH = style.path
export const SCRIPT_PATH = script.path
/** Only for the pages that wait for a key's first use. */
export const ARRIVAL_SCRIPT_PATH = arrivalScript.path
/** The site's icon. It also holds a symbol for each `IconName`. */
export const ICONS_PATH = icons.path

const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}
type Ending = keyof typeof TYPES

export function addAssets(app: App): void {
  for (const { path, text, ending } of [style, script, arrivalScript, icons])
    app.get(path, (c) =>
      c.body(text, 200, {
        'Content-Type': TYPES[ending],
        'Cache-Control': 'public, max-age=31536000, immutable',
      }),
    )
}

function read(name: string): string {
  return readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8')
}

function assetOf(base: string, ending: Ending, source: string) {
  const text = minify(ending, source)
  const tag = hash('sha256', text, 'hex').slice(0, 8)
  return { path: `/assets/${base}-${tag}.${ending}`, text, ending }
}

/** Removes spaces and comments. Safe for our style sheet, since its strings contain neither. */
function minify(ending: Ending, source: string): string {
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
            .replaceAll(';}', '}'),
        ),
      ),
    )
  if (ending === 'js') return source.replace(/^\s*(\/?\*.*|\/\/.*)?\n?/gm, '')
  return source
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
