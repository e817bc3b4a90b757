import { html } from 'hono/html'
import type { RegisteredServer } from '../listing/registered-server.ts'
import { type Html, shown, shownInstant, visible } from './page.ts'

/** A table of servers; where `userId` is given, only those that this user registered can be changed. */
export function showServerRows(servers: readonly RegisteredServer[], userId?: string): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Servers">
<table class="stack" role="table">
<thead role="rowgroup"><tr role="row">
${HEADS.map((head) => html`<th role="columnheader" scope="col">${head}</th>`)}
<th role="columnheader" scope="col"><span class="unseen">Actions</span></th>
</tr></thead>
<tbody role="rowgroup">
${servers.map((server) => showRow(server, userId === undefined || server.created_by === userId))}
</tbody>
</table></div>`
}

const HEADS = ['Name', 'Address', 'Edition', 'Status', 'Changed']

/** With the roles it has anyway: on a phone the cells stand below each other, and would lose them. */
function showRow(server: RegisteredServer, isOwn: boolean): Html {
  const { id, name, address, edition, status, updated_at } = server
  const path = `/dashboard/servers/${id}`
  return html`<tr role="row">
<th role="rowheader" scope="row">${isOwn ? html`<a href="${path}">${shown(name)}</a>` : shown(name)}</th>
<td role="cell"><code>${shown(address)}</code></td>
<td role="cell">${shown(edition)}</td>
<td role="cell"><span class="state ${status === 'published' ? 'good' : ''}">${shown(status)}</span></td>
<td role="cell">${shownInstant(updated_at)}</td>
<td role="cell">${isOwn ? showActions(path, status, name) : ''}</td>
</tr>
`
}

function showActions(path: string, status: string, name: string): Html {
  const [next, label] = status === 'published' ? ['draft', 'To draft'] : ['published', 'Publish']
  return html`<form method="post" action="${path}/status"><button class="quiet" name="status" value="${next}" aria-label="${label}: ${visible(name)}">${label}</button></form>`
}
