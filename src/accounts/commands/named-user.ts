import { type User, complaintAboutExternalId, endsOf } from '../user.ts'
import { formatInstant, formatNullable } from '../../model/instant.ts'
import type { Command } from 'commander'
import { checkEmail } from '../../model/email.ts'
import { quote } from '../../model/text.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { shortInstant } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { users } from '../records/users.ts'
import { HELP_HINT, type CommandStore, changeStore } from '../../terminal/context.ts'

/** How a command line names a user. */
export type UserReference = { email: string } | { external_id: string }

/** The option of commands that name a user, beside the email address. */
export const EXTERNAL_ID = [
  '--external-id <id>',
  'the id that your own site has for the user, instead of the email address',
] as const

/**
 * The user that a command names by email address, in an argument or option called `flag`, or by
 * `--external-id`. Null if it names none.
 */
export function readUser(
  email: string | undefined,
  externalId: string | undefined,
  flag: string,
): UserReference | null {
  if (email !== undefined && externalId !== undefined)
    throw new Misuse(
      `${flag} is ${quote(email)} and --external-id is ${quote(externalId)}. Name the user by ` +
        'one of the two',
    )
  if (email !== undefined) return { email: readEmail(email) }
  return externalId === undefined ? null : { external_id: readExternalId(externalId) }
}

/** The same for a command that needs a user. */
export function needUser(
  email: string | undefined,
  externalId: string | undefined,
  flag = '--user <email>',
): UserReference {
  const reference = readUser(email, externalId, flag)
  if (reference !== null) return reference
  throw new Misuse(`${flag} or --external-id <id> is missing\n${HELP_HINT}`)
}

/** The options of a command that names one user. */
export interface UserOptions {
  externalId?: string
  json?: boolean
}

/** Adds a command that names a user by the email address or `--external-id`. */
export function addUserCommand(group: Command, name: string, description: string): Command {
  return group
    .command(name)
    .description(description)
    .argument('[email]', "the user's email address")
    .option(...EXTERNAL_ID)
    .option('--json', 'print JSON')
}

/** Changes the user whom such a command names. */
export async function changeUser(
  shell: Shell,
  email: string | undefined,
  { externalId }: UserOptions,
  body: (store: CommandStore, user: User) => Promise<void>,
): Promise<void> {
  const reference = needUser(email, externalId, '<email>')
  await changeStore(shell, async (store) => body(store, await findUser(store, reference)))
}

/** The part of a command line that names this user. */
export const wordsFor = (reference: UserReference, flag = '--user '): string =>
  'email' in reference
    ? `${flag}${reference.email}`
    : `--external-id ${quote(reference.external_id)}`

/** Finds the user whom a command names. */
export async function findUser(
  { database, place }: Pick<CommandStore, 'database' | 'place'>,
  reference: UserReference,
): Promise<User> {
  const user = await ('email' in reference
    ? users(database).findUser(reference.email)
    : users(database).findExternalUser(reference.external_id))
  if (user !== null) return user
  const named =
    'email' in reference ? reference.email : `with the external id ${quote(reference.external_id)}`
  throw new Failure(
    `there is no user ${named} in ${place}. To add one, run ` +
      `\`server-listing user add ${wordsFor(reference, '')}\`. To see all users, run ` +
      '`server-listing user list`',
  )
}

/** The email address in the form in which the store has it. */
export function readEmail(email: string): string {
  const checked = checkEmail(email)
  if ('complaint' in checked) throw new Misuse(checked.complaint)
  return checked.email
}

export function readExternalId(externalId: string): string {
  const complaint = complaintAboutExternalId(externalId)
  if (complaint !== null) throw new Misuse(complaint)
  return externalId
}

/** Who has ended the user's access and when, or the words for a user who has access. */
export function sayAccess(user: Parameters<typeof endsOf>[0], hasAccess: string): string {
  const ends = endsOf(user).map(({ words, at }) => `${words} ${shortInstant(at, '')}`)
  return ends.length === 0 ? hasAccess : ends.join(', ')
}

export function userJson({
  id,
  email,
  external_id,
  created_at,
  disabled_at,
  banned_at,
}: User): object {
  return {
    id,
    email,
    external_id,
    created_at: formatInstant(created_at),
    disabled_at: formatNullable(disabled_at),
    banned_at: formatNullable(banned_at),
  }
}
