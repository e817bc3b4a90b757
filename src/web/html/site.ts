import { html } from 'hono/html'
import type { Site } from '../context.ts'
import type { Action } from './parts.ts'
import { type Html, isolated, isolatedText } from './text.ts'

/** The dashboard's name without SITE_NAME. */
const DEFAULT_NAME = 'Server listing'

/** What the dashboard is called, in titles and in its bar. */
export function titleOf({ name }: Site): string {
  return name ?? DEFAULT_NAME
}

/** The website that manages accounts, in a sentence. */
export function showSite({ name, url }: Site): Html {
  if (url !== null) return html`<a href="${url}/">${isolated(name ?? new URL(url).host)}</a>`
  return name === null ? html`the website that it belongs to` : isolated(name)
}

/** Whom users ask, in a sentence. */
export function showOperator({ contact }: Site): Html {
  const operator = html`the operator of this service`
  return contact === null ? operator : html`<a href="${contact}">${operator}</a>`
}

/** The link to the site that manages servers. */
export function manageAt({ name, url }: Site): Action {
  const label = `Manage at ${isolatedText(name ?? new URL(url!).host)}`
  return { href: `${url}/`, label, isMain: true }
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
