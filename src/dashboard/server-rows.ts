import { html } from 'hono/html'
import { formatInstant } from '../listing/instant.ts'
import type { RegisteredServer } from '../listing/registered-server.ts'
import { type Html, NAME_BYTES, shownShort } from './page.ts'

/** Bytes of what else is in a row. Together with the name's, fifty rows fit on a page of 50 kB. */
const ADDRESS_BYTES = 48
const WORD_BYTES = 16

/**
 * A list of servers, in one form whose buttons say which is meant; where `userId` is given, only those that this user
 * registered can be changed.
 */
export function showServerRows(servers: readonly RegisteredServer[], userId?: string): Html {
  return html`<form method="post" action="/dashboard/servers/status"><ul class="rows">
${servers.map((server, index) => showRow(server, index, userId === undefined || server.created_by === userId))}</ul></form>`
}

function showRow(server: RegisteredServer, index: number, isOwn: boolean): Html {
  const { id, name, address, edition, status, updated_at } = server
  const isPublished = status === 'published'
  return html`<li><div><a id="s${index}" href="/dashboard/servers/${id}">${shownShort(name, NAME_BYTES)}</a> <span class="state${isPublished ? ' good' : ''}">${shownShort(status, WORD_BYTES)}</span><p><code>${shownShort(address, ADDRESS_BYTES)}</code> ${shownShort(edition, WORD_BYTES)} <time>${formatInstant(updated_at).slice(0, 10)}</time></p></div>${isOwn ? showButton(id, isPublished, index) : ''}
`
}

function showButton(id: string, isPublished: boolean, index: number): Html {
  const [next, label] = isPublished ? ['draft', 'To draft'] : ['published', 'Publish']
  return html`<button name="${next}" value="${id}" aria-describedby="s${index}">${label}</button>`
}
