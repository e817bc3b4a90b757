/** What a browser says about where a request comes from. */
export interface Origins {
  secFetchSite: string | undefined
  origin: string | undefined
  host: string | undefined
}

/**
 * Whether a request that changes something was made by a page of this dashboard. Browsers say so themselves, and
 * scripts of other pages cannot forge it; over plain HTTP to another machine they leave `Sec-Fetch-Site` out, and
 * `Origin` has to name this host or the dashboard's public URL.
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
