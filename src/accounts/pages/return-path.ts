import type { Context } from '../../web/context.ts'

// A query of printable ASCII, as browsers write it, without # and \.
const RETURN_PATH = /^\/dashboard(\/[a-z0-9-]+)*(\?[!"$-[\]-~]*)?$/
/** A cookie may carry the path. Browsers keep 4,096 bytes of it. */
const LENGTH_MAX = 2_000
/** Paths that take a form and show no page. Their form is on the page above. */
const FORM_ONLY = /\/(change|email|leaked|password|sessions|sign-ins|undo)$/

/** The page to return to after signing in. For a form it is the page where the user was. */
export function returnPathOf(c: Context): string {
  const { method, url } = c.req
  const from = (method === 'POST' && c.req.header('Referer')) || url
  const { pathname, search } = new URL(URL.canParse(from) ? from : url)
  return readReturnPath(pathname.replace(FORM_ONLY, '') + search)
}

/**
 * Accepts only pages of the dashboard, because the value comes from the browser. A long query is
 * given up, and the page is not.
 */
export function readReturnPath(sent: string): string {
  const path = sent.length > LENGTH_MAX ? sent.replace(/\?.*/s, '') : sent
  return RETURN_PATH.test(path) ? path : '/dashboard'
}
