import { html } from 'hono/html'
import { type RegisteredServer, SERVER_FIELDS, type ServerFields } from '../server.ts'
import { FIELDS } from '../fields.ts'
import { type Context, fieldOf } from '../../web/context.ts'
import { type Notice, showUnchanged } from '../../web/html/page.ts'
import { isolated } from '../../web/html/text.ts'

/*
 * Edits of a server that has changed, or is gone, since the page with the form was opened.
 */

/** Names the values that saving again would replace. */
export function sayOutdated(stored: RegisteredServer, wanted: ServerFields): Notice {
  const different = SERVER_FIELDS.filter((name) => stored[name] !== wanted[name])
  const values = different.map((name) => {
    const [label, value] =
      name === 'organization_id'
        ? ['Owner', 'another one']
        : [FIELDS[name].label, stored[name] ?? 'empty']
    return html`<li>${label}: ${isolated(value)}</li>`
  })
  return {
    kind: 'bad',
    text: html`<p>Another tab or program has changed this server since you opened this page. Nothing was saved. If you save again, you replace these values:</p><ul>${values}</ul>`,
  }
}

/** Offers what the user typed as a new server. */
export function showGone(c: Context): Promise<Response> {
  const query = new URLSearchParams()
  for (const name of SERVER_FIELDS) if (fieldOf(c, name) !== '') query.set(name, fieldOf(c, name))
  const register = `/dashboard/servers/new?${query.toString()}`
  return showUnchanged(
    c,
    html`This server no longer exists, or you can’t change it. You can <a href="${register}">register it again with these values</a>, or <a href="/dashboard/servers">go to your servers</a>.`,
  )
}
