import type { Server } from '../../model/server-row.ts'
import type { Context, Dashboard } from '../../web/context.ts'
import { pathOf, searchOf } from './list/query.ts'

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

/** Stands for the dashboard's own origin. */
const HERE = 'http://dashboard.invalid'
const LIST = /^\/dashboard\/(?:servers|organizations\/[0-9a-f-]{36})$/
const ROW = /^#s\d{1,2}$/

/**
 * The place in a list that a form or a link names, or null: its search, and the row to show. It
 * comes from the browser, so only lists of servers count.
 */
export function readPlace(sent: string | undefined): string | null {
  if (sent === undefined || !URL.canParse(sent, HERE)) return null
  const { origin, pathname, searchParams, hash } = new URL(sent, HERE)
  if (origin !== HERE || !LIST.test(pathname)) return null
  return `${pathOf(pathname, searchOf(searchParams))}${ROW.test(hash) ? hash : ''}`
}

/** The place in a list from which the user opened this page, by the link that the browser names. */
export function placeBefore(c: Context): string | null {
  const named = readPlace(c.req.query('from'))
  if (named !== null) return named
  const referer = c.req.header('Referer') ?? ''
  if (!URL.canParse(referer)) return null
  const { pathname, search } = new URL(referer)
  return readPlace(`${pathname}${search}#s${c.req.query('row') ?? ''}`)
}

/** The organization whose servers a list has. Null for the user's personal servers. */
export function organizationOf(place: string): string | null {
  return /^\/dashboard\/organizations\/([0-9a-f-]+)/.exec(place)?.[1] ?? null
}
