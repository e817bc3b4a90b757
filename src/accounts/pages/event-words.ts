import { html } from 'hono/html'
import type { AuditEntry } from '../../model/audit.ts'
import { type Html, isolated, NAME_BYTES, truncated } from '../../web/html/text.ts'

/** The names of the keys and organizations that entries name by their ids. */
export type Names = ReadonlyMap<string, string>

/** An entry of the audit log as a sentence. What has lost its name is named by its kind. */
export function tellEvent({ action, subject, user_id }: AuditEntry, names: Names): Html | string {
  const key = () => nameOf(names, subject, 'the key', 'a key')
  const organization = () => nameOf(names, subject, '', 'an organization')
  switch (action) {
    case 'sign-up':
      return 'Created the account'
    case 'user added':
      return 'Added the account'
    case 'user removed':
      return 'Removed the account'
    case 'user disabled':
      return 'An operator disabled the account'
    case 'user enabled':
      return 'An operator enabled the account'
    case 'sign-in':
      return 'Signed in'
    case 'sign-in refused':
      return html`Wrong password for ${isolated(subject)}`
    case 'sign-out':
      return 'Signed out'
    case 'sign-out everywhere':
      return 'Signed out everywhere'
    case 'session ended':
      return 'Ended another session'
    case 'sign-in link issued':
      return 'An operator issued a sign-in link'
    case 'sign-in link used':
      return 'Set a new password with a sign-in link'
    case 'password changed':
      return 'Changed the password'
    case 'e-mail changed':
      return html`Changed the email address to ${isolated(subject)}`
    case 'organization made':
      return html`Created ${organization()}`
    case 'organization deleted':
      return html`Deleted ${organization()}`
    case 'invited':
      return html`Invited a person to ${organization()}`
    case 'invitation withdrawn':
      return html`Withdrew an invitation to ${organization()}`
    case 'invitation accepted':
      return html`Joined ${organization()}`
    case 'invitation declined':
      return html`Declined an invitation to ${organization()}`
    case 'member removed':
      return subject === user_id ? 'Left an organization' : 'Removed a member of an organization'
    case 'servers given back':
      return html`Returned the servers of former members of ${organization()}`
    case 'key issued':
      return html`Issued ${key()}`
    case 'key revoked':
      return html`Deleted ${key()}`
    case 'key imported':
      return html`An operator imported ${key()}`
    case 'key renamed':
      return html`An operator renamed ${key()}`
    case 'member added':
      return html`An operator added you to ${organization()}`
    case 'member role changed':
      return html`An operator changed your role in ${organization()}`
    case 'external id changed':
      return 'An operator changed the id that the site has for you'
    case 'organization renamed':
      return html`An operator renamed ${organization()}`
    default:
      // Another version of the program may have written an action that this one does not know.
      return action
  }
}

function nameOf(names: Names, id: string, kind: string, unknown: string): Html | string {
  const name = names.get(id)
  if (name === undefined) return unknown
  return html`${kind === '' ? '' : `${kind} `}${truncated(name, NAME_BYTES)}`
}
