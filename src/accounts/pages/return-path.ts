import { type Context, fieldOf } from '../../web/context.ts'
import { keptFields } from './typed-fields.ts'

// A query of printable ASCII, as browsers write it, without # and \.
const RETURN_PATH = /^\/dashboard(\/[a-z0-9-]+)*(\?[!"$-[\]-~]*)?$/
/** Forms of a list of servers, which name the list in `from`. */
const LIST_ACTION = /^\/dashboard\/servers\/(change|undo)$/
/** Holds the longest values that a form accepts, and fits twice encoded into a form. */
const RETURN_PATH_LENGTH_MAX = 8_500

interface ReturnPath {
  path: string
  /** What becomes of what the user typed. Passwords do not count. */
  typed: 'nothing' | 'kept' | 'secret' | 'too long'
}

/**
 * The page to return to after signing in, with what the user typed. For a form, it is the page that
 * shows the form.
 */
export function returnPathOf(c: Context): ReturnPath {
  const { path, method } = c.req
  if (method !== 'POST') return { path: path + new URL(c.req.url).search, typed: 'nothing' }
  if (LIST_ACTION.test(path)) return { path: listOf(c), typed: 'nothing' }
  const replaced = fieldOf(c, 'replaces')
  if (replaced !== '') return { path: `/dashboard/api/${replaced}/replace`, typed: 'nothing' }
  const page = path
    .replace(/\/[^/]+\/accept$/, '')
    .replace(/\/(leaked|return|password|email|sessions|sign-ins)$/, '')
  if (fieldOf(c, 'leaked') !== '') return { path: page, typed: 'secret' }
  const kept = keptFields(c)
  if (kept.size === 0) return { path: page, typed: 'nothing' }
  const returnPath = `${page}?${kept.toString()}`
  return returnPath.length <= RETURN_PATH_LENGTH_MAX
    ? { path: returnPath, typed: 'kept' }
    : { path: page, typed: 'too long' }
}

/** The list with the form: the form names it, or the browser does. */
function listOf(c: Context): string {
  const from = fieldOf(c, 'from') || (c.req.header('Referer') ?? '')
  const own = new URL('/dashboard/servers', c.req.url)
  const { pathname, search } = URL.canParse(from, own.href) ? new URL(from, own) : own
  return pathname + search
}

/** Accepts only pages of the dashboard, because the value comes from the browser. */
export function readReturnPath(sent: string): string {
  return RETURN_PATH.test(sent) ? sent : '/dashboard'
}
