import { html } from 'hono/html'
import { endsOf, type NamedUser, nameOf } from '../../accounts/user.ts'
import {
  type FoundUser,
  type UserPage,
  type UserPlace,
  USERS_EXAMINED,
  userSearch,
} from '../../directory/records/user-search.ts'
import type { Instant } from '../../model/instant.ts'
import { count } from '../../model/text.ts'
import type { App, Context, Dashboard } from '../../web/context.ts'
import { AS_CODE } from '../../web/html/form-field.ts'
import { showPage } from '../../web/html/page.ts'
import { pill, showEmpty, showTable } from '../../web/html/parts.ts'
import { showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated } from '../../web/html/text.ts'

export const USERS_PATH = '/dashboard/operator/users'
/** Characters of a search: those of the longest external id or address. */
const SEARCH_LENGTH_MAX = 255

/** A search for users, with a page for each fifty of them. */
export function addUserListRoute(app: App, { database, now }: Dashboard): void {
  app.get(USERS_PATH, async (c) => {
    const typed = (c.req.query('q') ?? '').replace(/\p{Cc}/gu, '').trim()
    const text = [...typed].slice(0, SEARCH_LENGTH_MAX).join('').toWellFormed()
    const found = await userSearch(database).searchUsers(text, readPlace(c))
    return showPage(c, {
      title: 'Users',
      lead: 'Newest first. Open a user to help with signing in, or to end access.',
      body: html`${showUserSearch(text)}
${found.users.length === 0 ? showNone(text, found) : showUsers(found.users, now())}
${showNext(text, found)}
<p><a href="/dashboard/operator">Back to the operator’s page</a></p>`,
    })
  })
}

export function showUserSearch(text: string): Html {
  return html`<form class="tools" method="get" action="${USERS_PATH}" role="search">
<label class="search"><span class="unseen">Search users</span><input name="q" type="search" value="${text}" autocomplete="off"${AS_CODE} placeholder="Email, external id or user id"></label>
<button>Search</button>
</form>`
}

function showUsers(users: readonly FoundUser[], now: Instant): Html {
  return showTable(
    'Users',
    ['User', 'External id', 'Joined', 'Keys', 'Servers'],
    users.map((user) => [
      html`${showUserLink(user)}${showEnds(user)}`,
      user.external_id === null || user.email === null
        ? html``
        : html`${isolated(user.external_id)}`,
      showAgo(user.created_at, now),
      user.apiKeys,
      user.servers,
    ]),
  )
}

export function showUserLink(user: NamedUser): Html {
  return html`<a href="${USERS_PATH}/${user.id}">${isolated(nameOf(user))}</a>`
}

export function showEnds(user: Parameters<typeof endsOf>[0]): Html {
  return html`${endsOf(user).map(({ words }) => html` ${pill(words)}`)}`
}

function showNone(text: string, { isFull }: UserPage): Html {
  return showEmpty({
    icon: 'search',
    title: isFull ? 'No users found' : 'No users found yet',
    ...(text === '' ? {} : { text: html`No users match “${isolated(text)}”.` }),
    action: { href: USERS_PATH, label: 'Show all users' },
  })
}

/** A search that has examined many users goes on with the older ones if the operator asks. */
function showNext(text: string, { next, isFull }: UserPage): Html | '' {
  if (next === null) return ''
  const query = new URLSearchParams({
    ...(text === '' ? {} : { q: text }),
    before: `${next.created_at}.${next.id}`,
  })
  const examined = `This page searched ${count(USERS_EXAMINED.max)} users. Older ones may match, too.`
  return html`${isFull ? '' : html`<p class="hint">${examined}</p>`}
<nav class="row pages" aria-label="Pages"><span></span><a class="button" href="${USERS_PATH}?${query.toString()}">Older users</a></nav>`
}

/** A wrong place counts as none. */
function readPlace(c: Context): UserPlace | null {
  const [, instant, id = ''] =
    /^(-?\d{1,16})\.([0-9a-f-]{36})$/.exec(c.req.query('before') ?? '') ?? []
  return instant === undefined ? null : { created_at: Number(instant), id }
}
