import { html } from 'hono/html'
import type { AuditAction, AuditEntry } from '../../model/audit.ts'
import { type Html, isolated } from '../../web/html/text.ts'

/** The names of the keys and organizations that entries name by their ids. */
export type Names = ReadonlyMap<string, string>

/** The actions whose entries say nothing more. */
const SENTENCES: Partial<Record<AuditAction, string>> = {
  'sign-up': 'Created the account',
  'user added': 'Added the account',
  'user removed': 'Removed the account',
  'user disabled': 'An operator disabled the account',
  'user enabled': 'An operator enabled the account',
  'sign-in': 'Signed in',
  'sign-out': 'Signed out',
  'sign-out everywhere': 'Signed out everywhere',
  'session ended': 'Ended another session',
  'sessions ended': 'An operator ended all sessions',
  'sign-in link issued': 'An operator issued a sign-in link',
  'sign-in link used': 'Set a new password with a sign-in link',
  'signed in by link': 'Signed in with a sign-in link',
  'password changed': 'Changed the password',
  'servers published': 'Published servers',
  'servers unpublished': 'Unpublished servers',
  'servers removed': 'Deleted servers',
  'servers moved': 'Moved servers',
  'servers restored': 'Undid a change of servers',
  'servers imported': 'Imported servers',
  'member added by owner': 'Added a member to an organization',
  'external id changed': 'An operator changed the id that the site has for you',
}

/** Entries that version 0.1.0 wrote. */
const FORMER_SENTENCES: Record<string, string> = {
  invited: 'Invited a person to an organization',
  'invitation withdrawn': 'Withdrew an invitation to an organization',
  'invitation accepted': 'Joined an organization',
  'invitation declined': 'Declined an invitation to an organization',
  'servers given back': 'Returned the servers of former members of an organization',
}

/** An entry of the audit log as a sentence. What has lost its name is named by its kind. */
export function tellEvent({ action, subject, user_id }: AuditEntry, names: Names): Html | string {
  const key = () => nameOf(names, subject, 'the key', 'a key')
  const organization = () => nameOf(names, subject, '', 'an organization')
  switch (action) {
    case 'sign-in refused':
      return html`Wrong password for ${isolated(subject)}`
    case 'identity refused':
      return html`A sign-in was refused: ${isolated(subject)}`
    case 'sign-in connected':
      return html`Connected a sign-in with ${isolated(subject)}`
    case 'sign-in removed':
      return html`Removed a sign-in with ${isolated(subject)}`
    case 'confirmed':
      return html`Signed in again with ${isolated(subject)} to confirm`
    case 'confirmed without auth_time':
      return html`Went to ${isolated(subject)} again to confirm, which did not say whether it asked for a password`
    case 'operator issued link':
      return html`Issued a sign-in link for ${isolated(subject)}`
    case 'operator disabled user':
      return html`Disabled the account ${isolated(subject)}`
    case 'operator enabled user':
      return html`Enabled the account ${isolated(subject)}`
    case 'operator ended sessions':
      return html`Ended all sessions of ${isolated(subject)}`
    case 'e-mail changed':
      return html`Changed the email address to ${isolated(subject)}`
    case 'organization made':
      return html`Created ${organization()}`
    case 'organization deleted':
      return html`Deleted ${organization()}`
    case 'member removed':
      return subject === user_id ? 'Left an organization' : 'Removed a member of an organization'
    case 'key issued':
      return html`Issued ${key()}`
    case 'key revoked':
      return html`Deleted ${key()}`
    case 'key imported':
      return html`An operator imported ${key()}`
    case 'key renamed':
      return html`Renamed ${key()}`
    case 'member added':
      return html`You were added to ${organization()}`
    case 'member role changed':
      return html`An operator changed your role in ${organization()}`
    case 'organization renamed':
      return html`An operator renamed ${organization()}`
    default:
      // Another version of the program may have written an action that this one does not know.
      return SENTENCES[action] ?? FORMER_SENTENCES[action] ?? action
  }
}

function nameOf(names: Names, id: string, kind: string, unknown: string): Html | string {
  const name = names.get(id)
  if (name === undefined) return unknown
  return html`${kind === '' ? '' : `${kind} `}${isolated(name)}`
}
