import { html } from 'hono/html'
import type { Site } from '../context.ts'
import type { Html } from './text.ts'

/** The dashboard's name without SITE_NAME. */
const DEFAULT_NAME = 'Server listing'

/** What the dashboard is called, in titles and in its bar. */
export function titleOf({ name }: Site): string {
  return name ?? DEFAULT_NAME
}

/** Below every page, so that no error leaves its reader alone. Empty without CONTACT. */
export function showContact({ contact }: Site): Html | '' {
  if (contact === null) return ''
  return html`<footer class="hint">Need help? Ask the operator: <a href="${contact}">${labelOf(contact)}</a></footer>`
}

/** The address without its scheme. */
function labelOf(contact: string): string {
  return contact.replace(/^(mailto:|https:\/\/)/, '').replace(/\/$/, '')
}
