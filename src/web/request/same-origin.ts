/** The headers in which a browser names the origin of a request. */
export interface Origins {
  secFetchSite: string | undefined
  origin: string | undefined
  host: string | undefined
}

/**
 * True if a page of this dashboard sent the request. Scripts of other sites can't forge these
 * headers. Over plain HTTP to another machine, browsers omit `Sec-Fetch-Site`; then `Origin` must
 * name this host or the dashboard's URL.
 */
export function isSameOrigin(
  { secFetchSite, origin, host }: Origins,
  dashboardUrl: string,
): boolean {
  if (secFetchSite !== undefined) return secFetchSite === 'same-origin'
  if (origin === undefined || !URL.canParse(origin)) return false
  const { origin: exact, host: from, protocol } = new URL(origin)
  const known = new URL(dashboardUrl)
  if (exact === known.origin) return true
  return known.protocol === 'http:' && protocol === 'http:' && from === host
}
