import type { App, Dashboard } from '../web/context.ts'

/** Search engines may show the documents and the public pages of servers. Other pages are forms. */
export function addRobotsRoute(app: App, { siteUrl }: Pick<Dashboard, 'siteUrl'>): void {
  const allowed = ['/docs', ...(siteUrl === null ? [] : ['/servers/'])]
  const lines = ['User-agent: *', ...allowed.map((path) => `Allow: ${path}`), 'Disallow: /', '']
  app.get('/robots.txt', (c) => c.text(lines.join('\n')))
}
