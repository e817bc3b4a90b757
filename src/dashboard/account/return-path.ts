import { SERVER_FIELDS } from '../../listing/servers/registered-server.ts'
import { type Context, fieldOf } from '../context.ts'

/**
 * Fields that may go into a page's address, so that the user finds them filled in after signing in.
 */
const KEPT_FIELDS = [...SERVER_FIELDS, 'email']
// A query of printable ASCII, as browsers write it, without # and \.
const RETURN_PATH = /^\/dashboard(\/[a-z0-9-]+)*(\?[!"$-[\]-~]*)?$/
/** Forms of a list of servers, which name the list in `from`. */
const LIST_ACTION = /^\/dashboard\/servers\/(change|undo)$/
const RETURN_PATH_LENGTH_MAX = 8_000

/**
 * The page to return to after signing in, with what the user typed. For a form, it is the page that
 * shows the form.
 */
export function returnPathOf(c: Context): string {
  const { path, method } = c.req
  if (method !== 'POST') return path + new URL(c.req.url).search
  if (LIST_ACTION.test(path)) return fieldOf(c, 'from').replace(/#.*$/, '')
  const kept = new URLSearchParams()
  for (const name of KEPT_FIELDS) if (fieldOf(c, name) !== '') kept.set(name, fieldOf(c, name))
  const page = path
    .replace(/\/[^/]+\/(accept|decline)$/, '')
    .replace(/\/(leaked|remove|withdraw|return|password|email|sessions)$/, '')
  const returnPath = kept.size > 0 ? `${page}?${kept.toString()}` : page
  return returnPath.length <= RETURN_PATH_LENGTH_MAX ? returnPath : page
}

/** Accepts only pages of the dashboard, because the value comes from the browser. */
export function readReturnPath(sent: string): string {
  return RETURN_PATH.test(sent) ? sent : '/dashboard'
}
