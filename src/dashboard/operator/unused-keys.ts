import { html } from 'hono/html'
import { unusedApiKeys } from '../../directory/records/unused-keys.ts'
import { UNUSED_US } from '../../keys/api-key.ts'
import type { OwnedApiKey } from '../../keys/records/owned-api-keys.ts'
import { DAY_US, type Instant } from '../../model/instant.ts'
import { count } from '../../model/text.ts'
import type { Dashboard } from '../../web/context.ts'
import { showTable } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { showUserLink } from './users.ts'

const KEYS_SHOWN = 20
const TITLE = `Keys unused for ${UNUSED_US / DAY_US} days`

/** How many working keys have had no use for long, and whose they are. */
export async function showUnusedKeys({ database }: Dashboard, now: Instant): Promise<Html> {
  const found = await unusedApiKeys(database).countUnused(now - UNUSED_US, KEYS_SHOWN)
  const { count: unused, isMore, longest } = found
  const total = html`<span class="hint">${isMore ? 'at least ' : ''}${count(unused)}</span>`
  return html`<section id="unused"><h2>${TITLE} ${total}</h2>
${
  unused === 0
    ? html`<p>Every working key was used or issued since then.</p>`
    : showTable(
        TITLE,
        ['Last used', 'Key', 'Owner', 'Prefix'],
        longest.map((key) => showKey(key, now)),
      )
}
${unused > longest.length ? html`<p class="hint">These ${KEYS_SHOWN} are unused for the longest time. <code>server-listing key list --unused-for ${UNUSED_US / DAY_US}d</code> lists all.</p>` : ''}</section>`
}

function showKey(apiKey: OwnedApiKey, now: Instant): Html[] {
  const { name, prefix, user_id, created_at, last_used_at } = apiKey
  return [
    last_used_at === null
      ? html`never, issued ${showAgo(created_at, now)}`
      : showAgo(last_used_at, now),
    isolated(name),
    showUserLink({ ...apiKey, id: user_id }),
    html`<code>${prefix}…</code>`,
  ]
}
