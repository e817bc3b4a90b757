import type { Server } from '../../model/server-row.ts'
import type { Context, Dashboard } from '../../web/context.ts'

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

/** The address of a server's public page. Null if it has none. */
export function publicUrlOf(
  { siteUrl }: Pick<Dashboard, 'siteUrl'>,
  {
    id,
    status,
    organization_id,
  }: Pick<Server, 'id' | 'status'> & { organization_id: string | null },
): string | null {
  const isPublic = siteUrl !== null && status === 'published' && organization_id === null
  return isPublic ? `${siteUrl}/servers/${id}` : null
}

/**
 * The place in a list that a form or a link names, or null. It comes from the browser, so only
 * lists of servers count.
 */
export function readPlace(sent: string | undefined): string | null {
  if (sent === undefined || !URL.canParse(sent, HERE)) return null
  const { origin, pathname, search, hash } = new URL(sent, HERE)
  const place = `${pathname}${search}${hash}`
  return origin === HERE && place.length <= PLACE_LENGTH_MAX && PLACE.test(place) ? place : null
}

/** Stands for the dashboard's own origin. */
const HERE = 'http://dashboard.invalid'

/** The place in a list from which the user opened this page, by the link that the browser names. */
export function placeBefore(c: Context): string | null {
  const named = readPlace(c.req.query('from'))
  if (named !== null) return named
  const referer = c.req.header('Referer') ?? ''
  if (!URL.canParse(referer)) return null
  const { pathname, searchParams } = new URL(referer)
  // A page on which every server was selected.
  const page = searchParams.get('select')
  searchParams.delete('select')
  if (page !== null && page !== '1') searchParams.set('page', page)
  const query = searchParams.size === 0 ? '' : `?${searchParams.toString()}`
  const row = /^\d{1,2}$/.exec(c.req.query('row') ?? '')
  return readPlace(`${pathname}${query}${row === null ? '' : `#s${row[0]}`}`)
}

/** The organization whose servers a list has. Null for the user's personal servers. */
export function organizationOf(place: string): string | null {
  return /^\/dashboard\/organizations\/([0-9a-f-]+)/.exec(place)?.[1] ?? null
}
