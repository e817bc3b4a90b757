import { html } from 'hono/html'
import { ICONS_PATH } from './assets.ts'
import type { Html } from './text.ts'

/** The symbols in `assets/icons.svg`. */
export type IconName =
  | 'alert'
  | 'book'
  | 'check'
  | 'copy'
  | 'down'
  | 'import'
  | 'info'
  | 'key'
  | 'people'
  | 'plus'
  | 'search'
  | 'server'
  | 'user'

/** A symbol in the color of the text around it. It repeats what the text says. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" aria-hidden="true"><use href="${ICONS_PATH}#${name}"/></svg>`
}
