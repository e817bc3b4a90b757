import assert from 'node:assert/strict'
import type { AddressedUser } from '../../../../src/accounts/user.ts'
import type { Scene } from './dashboard-scene.ts'
import type { Dump } from '../tables.ts'
import { EMAILS } from './visits.ts'

/** An entry that an act leaves in the audit log: the user, the action and its subject. */
export type Entry = readonly [userId: string, action: string, subject: string]

/** An id that the act creates. */
export const NEW = '(new)'

/**
 * The audit entries of each visit, by the visit's name. They are listed here and not taken from the
 * program, so that the program cannot forget one unnoticed.
 */
export function entriesOf(scene: Scene): Readonly<Record<string, readonly Entry[]>> {
  const { user, otherSession, keys, organization, emptyOrganization, otherOrganization, bob } =
    scene
  const { server, deleted } = scene
  const by = (action: string, subject: string): Entry => [user.id, action, subject]
  return {
    'POST /dashboard/servers/new': [by('server registered', NEW)],
    'POST /dashboard/servers/:id': [by('server changed', server)],
    'moving a server': [by('server changed', server)],
    'POST /dashboard/servers/change': [by('servers unpublished', server)],
    'deleting a server': [by('servers removed', server)],
    'POST /dashboard/servers/undo': [by('servers restored', `1 of ${deleted}`)],
    'POST /dashboard/servers/import': [],
    'POST /dashboard/servers/import/:id': [by('servers imported', '1 new, 0 changed, 0 unchanged')],
    'POST /sign-in': [by('sign-in', user.email)],
    'a wrong password': [by('sign-in refused', user.email)],
    'POST /sign-out': [by('sign-out', user.email)],
    'POST /sign-up': [
      [NEW, 'sign-up', EMAILS.signedUp],
      [NEW, 'sign-in', EMAILS.signedUp],
    ],
    'POST /dashboard/account/email': [by('e-mail changed', EMAILS.changed)],
    'POST /dashboard/account/password': [
      by('password changed', user.email),
      by('sign-in', user.email),
    ],
    'POST /dashboard/account/delete': [by('user removed', user.email)],
    'POST /dashboard/account/sessions': [by('sign-out everywhere', user.email)],
    'ending a session': [by('session ended', otherSession)],
    'POST /dashboard/api': [by('key issued', NEW)],
    'a key after an old sign-in': [by('key issued', NEW)],
    'POST /link/:token': [by('sign-in link used', user.email), by('sign-in', user.email)],
    'POST /dashboard/api/:id': [by('key renamed', keys[0]!.id)],
    'POST /dashboard/api/:id/delete': [by('key revoked', keys[0]!.id)],
    'POST /dashboard/api/leaked': keys.map(({ id }) => by('key revoked', id)),
    'POST /dashboard/organizations': [by('organization made', NEW)],
    'POST /dashboard/organizations/:id/remove': [by('organization deleted', emptyOrganization)],
    'POST /dashboard/organizations/:id/members/:invitation/withdraw': [
      by('invitation withdrawn', organization),
    ],
    'POST /dashboard/organizations/:id/decline': [by('invitation declined', otherOrganization)],
    'POST /dashboard/organizations/:id/members': [by('invited', organization)],
    'POST /dashboard/organizations/:id/members/:member/remove': [by('member removed', bob.id)],
    ...operatorEntries(scene),
    'POST /dashboard/organizations/:id/return': [by('servers given back', organization)],
    'POST /dashboard/organizations/:id/accept': [by('invitation accepted', otherOrganization)],
  }
}

/** Each act has an entry about the user and one about the operator, who is Ada. */
function operatorEntries({ user, bob, disabled }: Scene): Record<string, Entry[]> {
  const both = ({ id, email }: AddressedUser, action: string, done: string): Entry[] => [
    [id, action, email],
    [user.id, done, email],
  ]
  const path = 'POST /dashboard/operator/users/:id'
  return {
    [`${path}/link`]: both(bob, 'sign-in link issued', 'operator issued link'),
    [`${path}/sign-out`]: both(bob, 'sessions ended', 'operator ended sessions'),
    [`${path}/disable`]: both(bob, 'user disabled', 'operator disabled user'),
    [`${path}/enable`]: both(disabled, 'user enabled', 'operator enabled user'),
  }
}

export const SETUP_ENTRIES = {
  'POST /setup/:token': [
    [NEW, 'sign-up', EMAILS.signedUp],
    [NEW, 'sign-in', EMAILS.signedUp],
  ],
} as const

/**
 * Throws unless exactly these entries are new in the audit log. Both dumps have been through
 * `shapeOf`.
 */
export function assertAudited(
  before: Dump,
  after: Dump,
  wanted: readonly Entry[],
  label: string,
): void {
  const known = new Set(before.get('audit_log'))
  const written = (after.get('audit_log') ?? [])
    .filter((row) => !known.has(row))
    .map((row) => {
      const { user_id, action, subject } = JSON.parse(row) as Record<string, string>
      return [user_id, action, subject].join(' ')
    })
  assert.deepEqual(written.toSorted(), wanted.map((entry) => entry.join(' ')).toSorted(), label)
}
