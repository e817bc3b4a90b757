import { html } from 'hono/html'
import type { AuditAction, AuditEntry } from '../../model/audit.ts'
import { type Html, isolated } from '../../web/html/text.ts'

/** The names of the keys and organizations that entries name by their ids. */
export type Names = ReadonlyMap<string, string>

/** Entries that version 0.1.0 wrote. */
type FormerAction =
  | 'invited'
  | 'invitation withdrawn'
  | 'invitation accepted'
  | 'invitation declined'
  | 'servers given back'

/** What entries say. `{key}` and `{organization}` stand for its name, `{subject}` for itself. */
const WORDS: Partial<Record<AuditAction | FormerAction, string>> = {
  'sign-up': 'Created the account',
  'user added': 'Added the account',
  'user removed': 'Removed the account',
  'user disabled': 'An operator disabled the account',
  'user enabled': 'An operator enabled the account',
  'user banned': 'The site banned the account',
  'user unbanned': 'The site lifted its ban of the account',
  'sign-in': 'Signed in',
  'sign-in refused': 'Wrong password for {subject}',
  'sign-in connected': 'Connected a sign-in with {subject}',
  'sign-in removed': 'Removed a sign-in with {subject}',
  'identity refused': 'A sign-in was refused: {subject}',
  confirmed: 'Signed in again with {subject} to confirm',
  'confirmed without auth_time':
    'Went to {subject} again to confirm, which did not say whether it asked for a password',
  'sign-out': 'Signed out',
  'sign-out everywhere': 'Signed out everywhere',
  'session ended': 'Ended another session',
  'sessions ended': 'An operator ended all sessions',
  'sign-in link issued': 'An operator issued a sign-in link',
  'sign-in link used': 'Set a new password with a sign-in link',
  'signed in by link': 'Signed in with a sign-in link',
  'operator issued link': 'Issued a sign-in link for {subject}',
  'operator disabled user': 'Disabled the account {subject}',
  'operator enabled user': 'Enabled the account {subject}',
  'operator ended sessions': 'Ended all sessions of {subject}',
  'password changed': 'Changed the password',
  'e-mail changed': 'Changed the email address to {subject}',
  'site refused': 'The site asked for a {subject} of an operator and was refused',
  'external id changed': 'An operator changed the id that the site has for you',
  'key issued': 'Issued {key}',
  'key revoked': 'Deleted {key}',
  'key imported': 'An operator imported {key}',
  'key renamed': 'Renamed {key}',
  'servers published': 'Published servers',
  'servers unpublished': 'Unpublished servers',
  'servers removed': 'Deleted servers',
  'servers moved': 'Moved servers',
  'servers restored': 'Undid a change of servers',
  'servers imported': 'Imported servers',
  'organization made': 'Created {organization}',
  'organization renamed': 'An operator renamed {organization}',
  'organization deleted': 'Deleted {organization}',
  'member added': 'You were added to {organization}',
  'member added by owner': 'Added a member to an organization',
  'member removed': 'Removed a member of an organization',
  'member role changed': 'An operator changed your role in {organization}',
  invited: 'Invited a person to an organization',
  'invitation withdrawn': 'Withdrew an invitation to an organization',
  'invitation accepted': 'Joined an organization',
  'invitation declined': 'Declined an invitation to an organization',
  'servers given back': 'Returned the servers of former members of an organization',
}

/** An entry of the audit log as a sentence. What has lost its name is named by its kind. */
export function tellEvent({ action, subject, user_id }: AuditEntry, names: Names): Html | string {
  if (action === 'member removed' && subject === user_id) return 'Left an organization'
  // Another version of the program may have written an action that this one does not know.
  const words = WORDS[action] ?? action
  const [before, kind, after] = words.split(/{(\w+)}/)
  if (kind === undefined) return words
  return html`${before}${kind === 'subject' ? isolated(subject) : nameOf(names, subject, kind)}${after}`
}

function nameOf(names: Names, id: string, kind: string): Html | string {
  const name = names.get(id)
  if (name === undefined) return kind === 'key' ? 'a key' : 'an organization'
  return html`${kind === 'key' ? 'the key ' : ''}${isolated(name)}`
}
