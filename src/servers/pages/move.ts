import { html } from 'hono/html'
import type { Membership } from '../../organizations/organization.ts'
import type { RegisteredServer } from '../server.ts'
import { PAGE_SIZE } from '../server-search.ts'
import type { Context } from '../../web/context.ts'
import { showChoice, showFormTag } from '../../web/html/form-field.ts'
import { showPage } from '../../web/html/page.ts'
import {
  type Html,
  isolated,
  NAME_BYTES,
  shortIsolatedText,
  truncated,
} from '../../web/html/text.ts'

/** What the field `move` has for a place. */
export const PERSONAL = 'personal'

/** Asks where servers should move, and says what that does to the API's answer. */
export function showMove(
  c: Context,
  servers: readonly RegisteredServer[],
  from: string,
  joined: readonly Membership[],
): Promise<Response> {
  const isOne = servers.length === 1
  const [them, label] = isOne ? ['it', 'Move server'] : ['them', `Move ${servers.length} servers`]
  const title = isOne ? 'Move a server' : label
  const places = [
    ...joined.map(({ id, name }) => [
      id,
      `${shortIsolatedText(name)}: the API never returns ${them}`,
    ]),
    [PERSONAL, `You: the API returns ${them}`],
  ] as [string, string][]
  const open = places.filter(([place]) =>
    servers.some(({ organization_id }) => (organization_id ?? PERSONAL) !== place),
  )
  return showPage(c, {
    title,
    width: 'form',
    body:
      open.length === 0
        ? html`<p>You are not a member of an organization. <a href="/dashboard/organizations">Create one</a> to move servers there.</p>`
        : html`<form class="card" method="post" action="/dashboard/servers/change">
${showFormTag()}<input type="hidden" name="from" value="${from}">
<input type="hidden" name="rows" value="${servers.map(({ id }) => id).join('.')}">
${isOne ? html`<p>Move <b>${isolated(servers[0]!.name)}</b> (<code>${servers[0]!.address}</code>).</p>` : ''}
${showChoice({ name: 'move', label: 'Owner', value: open[0]![0], options: open })}
<p>You can undo this for one hour.</p>
<div class="row"><button class="primary" name="to" value="moved for sure">${label}</button>
<a class="button" href="${from}">Cancel</a></div>
${isOne ? '' : showNames(servers)}</form>`,
  })
}

function showNames(servers: readonly RegisteredServer[]): Html {
  const more = servers.length - PAGE_SIZE
  return html`<p>These servers move:</p><ul>${servers.slice(0, PAGE_SIZE).map(({ name }) => html`<li>${truncated(name, NAME_BYTES)}</li>`)}${more > 0 ? html`<li>and ${more} more</li>` : ''}</ul>`
}
