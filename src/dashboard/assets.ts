import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { App } from './visit.ts'

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

const style = readAsset('style.css')
const script = readAsset('script.js')
const icon = readAsset('icon.svg')

/** Where the pages find the files; a changed file has another name, so a browser may keep it for good. */
export const STYLE_PATH = style.path
export const SCRIPT_PATH = script.path
export const ICON_PATH = icon.path

export function addAssets(app: App): void {
  for (const { path, text, type } of [style, script, icon])
    app.get(path, (visit) =>
      visit.body(text, 200, {
        'Content-Type': type,
        'Cache-Control': 'public, max-age=31536000, immutable',
      }),
    )
}

function readAsset(name: string): { path: string; text: string; type: string } {
  const source = readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8')
  const text = lighter(name, source)
  const [base, ending = ''] = name.split('.')
  const tag = hash('sha256', text, 'hex').slice(0, 12)
  return { path: `/assets/${base}-${tag}.${ending}`, text, type: TYPES[ending] ?? '' }
}

/** Without what only its writer needs. Nothing in our style sheet is a text, in which a space would mean something. */
function lighter(name: string, source: string): string {
  if (name.endsWith('.css'))
    return source
      .replace(/\s+/g, ' ')
      .replace(/ ?([{};,]) ?/g, '$1')
      .replaceAll(': ', ':')
      .replaceAll(';}', '}')
  if (name.endsWith('.js')) return source.replace(/^\s*(\/?\*.*|\/\/.*)?\n?/gm, '')
  return source
}
