import { html } from 'hono/html'
import { type ApiKey, isUnused, lastUseOf, UNUSED_US } from '../api-key.ts'
import { DAY_US, type Instant } from '../../model/instant.ts'
import { countOf } from '../../model/text.ts'
import { pill } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import type { Html } from '../../web/html/text.ts'

/** What a reader sees of a key. A browser must not translate it. */
export function showPrefix({ prefix }: Pick<ApiKey, 'prefix'>): Html {
  return html`<code translate="no">${prefix}…</code>`
}

/** When a program last used the key. A key that no program seems to need stands out. */
export function showLastUse(apiKey: ApiKey, now: Instant): Html | string {
  const { last_used_at } = apiKey
  if (apiKey.revoked_at === null && isUnused(apiKey, now - UNUSED_US)) {
    const unused = countOf(Math.floor((now - lastUseOf(apiKey)) / DAY_US), 'day')
    return pill(last_used_at === null ? `Never used in ${unused}` : `Unused for ${unused}`, 'warn')
  }
  return last_used_at === null ? 'Never used' : html`Last used ${showAgo(last_used_at, now)}`
}
