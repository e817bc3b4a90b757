import { createRoutes } from '../../src/dashboard/app.ts'

export interface ProgramRoute {
  method: 'GET' | 'POST'
  /** In Hono's form, such as `/dashboard/servers/:id`. */
  path: string
}

/**
 * Every page and form of the program, without style sheets, icons and scripts. Which routes there
 * are depends on whether servers have public pages and whether a site manages them. No request is
 * answered here.
 */
export function everyRoute(managesServers = false): ProgramRoute[] {
  return registered(managesServers)
    .filter(({ method, path }) => method !== 'ALL' && !NO_PAGE.test(path))
    .map(({ method, path }) => ({ method, path }) as ProgramRoute)
}

/** Style sheets, icons and scripts. */
const NO_PAGE = /^\/assets\/|\.(ico|png)$/

/** The paths of all routes and of what runs before them, as they are registered. */
export function everyPattern(): string[] {
  return [...new Set(registered(false).map(({ path }) => path))]
}

function registered(managesServers: boolean) {
  const url = 'https://example.com'
  const site = { name: null, url, contact: null, managesServers }
  const dashboard = {
    site,
    siteUrl: url,
    dashboardUrl: url,
    baseUrl: url,
    operators: [],
    passwords: true,
    store: {},
  }
  return createRoutes(dashboard as unknown as Parameters<typeof createRoutes>[0]).routes
}

/** The route that answers a request: the first one that matches. */
export function routeOf(
  routes: readonly ProgramRoute[],
  method: string,
  path: string,
): ProgramRoute | undefined {
  return routes.find(
    (route) =>
      route.method === method &&
      new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+').replace('*', '.+')}$`).test(path),
  )
}
