import { html } from 'hono/html'
import type { Membership } from '../../../organizations/organization.ts'
import type { Context } from '../../../web/context.ts'
import { showChoice } from '../../../web/html/form-field.ts'
import { showPage } from '../../../web/html/page.ts'
import { isolated, isolatedText } from '../../../web/html/text.ts'
import { type Asked, PERSONAL, showAsked, showNames } from './selected.ts'

/** Asks where servers should move, and says what that does to the API's answer. */
export function showMove(
  c: Context,
  asked: Asked,
  joined: readonly Membership[],
): Promise<Response> {
  const { servers, from } = asked
  const [first] = servers
  const isOne = servers.length === 1
  const [them, label] = isOne ? ['it', 'Move server'] : ['them', `Move ${servers.length} servers`]
  const title = isOne ? 'Move a server' : label
  const places = [
    ...joined.map(({ id, name }) => [id, `${isolatedText(name)}: the API never returns ${them}`]),
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
${showAsked(asked)}
${isOne ? html`<p>Move <b>${isolated(first!.name)}</b> (<code>${isolated(first!.address)}</code>).</p>` : ''}
${showChoice({ name: 'move', label: 'Owner', value: open[0]![0], options: open })}
<p>You can undo this for one hour.</p>
<div class="row"><button class="primary" name="confirmed" value="moved">${label}</button>
<a class="button" href="${from}">Cancel</a></div>
${isOne ? '' : html`<p>These servers move:</p>${showNames(servers)}`}</form>`,
  })
}
