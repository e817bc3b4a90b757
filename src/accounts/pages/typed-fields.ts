import { SERVER_FIELDS } from '../../servers/server.ts'
import { type Context, fieldOf } from '../../web/context.ts'

/**
 * Fields that may go into a page's address. The page of the form finds them there and fills them
 * in. Secrets are not among them.
 */
const KEPT_FIELDS = [...SERVER_FIELDS, 'email']

/** What the user typed into a form, as a query of the page with the form. */
export function keptFields(c: Context): URLSearchParams {
  const kept = new URLSearchParams()
  for (const name of KEPT_FIELDS) if (fieldOf(c, name) !== '') kept.set(name, fieldOf(c, name))
  return kept
}
