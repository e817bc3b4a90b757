import type { Context } from '../context.ts'

const LISTS = '/dashboard/(?:servers|organizations/[0-9a-f-]{36})'
/** A list with its query, and the row to show. Printable ASCII without # and \ in the query. */
const PLACE = new RegExp(String.raw`^${LISTS}(?:\?[!"$-[\]-~]*)?(?:#s\d{1,2})?$`)
const PLACE_LENGTH_MAX = 2_000

/** The page that lists a server. */
export function listPathOf({ organization_id }: { organization_id: string | null }): string {
  return organization_id === null
    ? '/dashboard/servers'
    : `/dashboard/organizations/${organization_id}`
}

/**
 * The place in a list that a form or a link names, or null. It comes from the browser, so only
 * lists of servers count.
 */
export function readPlace(sent: string | undefined): string | null {
  return sent !== undefined && sent.length <= PLACE_LENGTH_MAX && PLACE.test(sent) ? sent : null
}

/** The place in a list from which the user opened this page, by the link that the browser names. */
export function placeBefore(c: Context): string | null {
  const named = readPlace(c.req.query('from'))
  if (named !== null) return named
  const referer = c.req.header('Referer') ?? ''
  if (!URL.canParse(referer)) return null
  const { pathname, search } = new URL(referer)
  const row = /^\d{1,2}$/.exec(c.req.query('row') ?? '')
  return readPlace(`${pathname}${search}${row === null ? '' : `#s${row[0]}`}`)
}
