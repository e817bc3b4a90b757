import { html } from 'hono/html'
import { operator } from '../../directory/records/operator.ts'
import { unusedApiKeys } from '../../directory/records/unused-keys.ts'
import { UNUSED_US } from '../../keys/api-key.ts'
import type { OwnedApiKey } from '../../keys/records/owned-api-keys.ts'
import { DAY_US, type Instant } from '../../model/instant.ts'
import { count } from '../../model/text.ts'
import type { Dashboard } from '../../web/context.ts'
import { pill, showTable } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { showEnds, showUserLink } from './users.ts'

const KEYS_SHOWN = 20
const TITLE = `Keys unused for ${UNUSED_US / DAY_US} days`

/** The keys that programs used last. `active` is the number of all active keys. */
export async function showUsedKeys(
  { database }: Dashboard,
  active: number,
  now: Instant,
): Promise<Html> {
  const keys = await operator(database).listRecentApiKeys(KEYS_SHOWN)
  const title = 'Keys by last use'
  return html`<section id="keys"><h2>${title} <span class="hint">${count(active)}</span></h2>
${keys.length === 0 ? html`<p>No program has used a key yet.</p>` : showKeys(title, keys, now)}</section>`
}

/** How many working keys have had no use for long, and whose they are. */
export async function showUnusedKeys({ database }: Dashboard, now: Instant): Promise<Html> {
  const found = await unusedApiKeys(database).countUnused(now - UNUSED_US, KEYS_SHOWN)
  const { count: unused, isMore, longest } = found
  const total = html`<span class="hint">${isMore ? 'at least ' : ''}${count(unused)}</span>`
  return html`<section id="unused"><h2>${TITLE} ${total}</h2>
${
  unused === 0
    ? html`<p>Every working key was used or issued since then.</p>`
    : showKeys(TITLE, longest, now)
}
${unused > longest.length ? html`<p class="hint">These ${KEYS_SHOWN} are unused for the longest time. <code>server-listing key list --unused-for ${UNUSED_US / DAY_US}d</code> lists all.</p>` : ''}</section>`
}

function showKeys(title: string, keys: readonly OwnedApiKey[], now: Instant): Html {
  const rows = keys.map((apiKey) => showKey(apiKey, now))
  return showTable(title, ['Last used', 'Key', 'Owner', 'Prefix'], rows)
}

function showKey(apiKey: OwnedApiKey, now: Instant): Html[] {
  const { name, prefix, user_id, created_at, revoked_at, last_used_at } = apiKey
  return [
    last_used_at === null
      ? html`never, issued ${showAgo(created_at, now)}`
      : showAgo(last_used_at, now),
    html`${isolated(name)}${revoked_at === null ? '' : html` ${pill('deleted')}`}`,
    html`${showUserLink({ ...apiKey, id: user_id })}${showEnds(apiKey)}`,
    html`<code>${prefix}…</code>`,
  ]
}
