import type { Command } from 'commander'
import { nameOf, type User } from '../user.ts'
import { type Instant, presentInstant } from '../../model/instant.ts'
import { countOf } from '../../model/text.ts'
import { HELP_HINT } from '../../terminal/context.ts'
import {
  addUserCommand,
  changeUser,
  EXTERNAL_ID,
  readEmail,
  type UserOptions,
  userJson,
} from './named-user.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { printJson, say, shortInstant } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { inventory } from '../../directory/records/inventory.ts'
import type { Database } from '../../database/database.ts'
import { disabledUsers } from '../records/disabled-users.ts'
import { emailChanges } from '../records/email-changes.ts'
import { operatorAt } from '../../model/audit.ts'

/** Commands that change a user who exists. */
export function addChangeCommands(user: Command, shell: Shell): void {
  addUserCommand(
    user,
    'disable',
    'end all access of a user: sign-in, sessions and keys, until `user enable`',
  )
    .addHelpText(
      'after',
      `
Before the command returns, the user's keys get a 401, and sessions and sign-in links end. The
public pages of the user's servers disappear. Nothing is deleted and no key is revoked.

Example:
  server-listing user disable ada@example.com`,
    )
    .action((email, options) => disable(shell, email, options))

  addUserCommand(
    user,
    'enable',
    'let a disabled user sign in again, with the same keys and servers',
  )
    .addHelpText(
      'after',
      `
Only the site lifts a ban of its own: the command then says that the ban stands.

Example:
  server-listing user enable ada@example.com`,
    )
    .action((email, options) => enable(shell, email, options))

  user
    .command('email')
    .description('change the email address of a user, or add one')
    .argument('<addresses...>', 'the old address and the new one')
    .usage('<email> <new-email> | --external-id <id> <new-email>')
    .option(...EXTERNAL_ID)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Sessions, keys and the password stay. If OPERATORS lists the old address, change it there, too.

Examples:
  server-listing user email ada@example.com ada@example.net
  server-listing user email --external-id 4711 ada@example.com`,
    )
    .action((addresses, options) => changeEmail(shell, addresses, options))
}

function disable(shell: Shell, email: string | undefined, options: UserOptions): Promise<void> {
  return changeUser(shell, email, options, async (store, user) => {
    const now = presentInstant()
    const { api_keys } = await inventory(store.database).countBelongings(user.id)
    const isNew = await setDisabled(store.database, user, true, now)
    const disabled_at = isNew ? now : (user.disabled_at ?? now)
    if (options.json) printJson(shell, userJson({ ...user, disabled_at }))
    say(
      shell,
      (isNew
        ? `disabled ${nameOf(user)} with ${countOf(api_keys, 'active key')}. The user's keys now get ` +
          'a 401, and every session and sign-in link has ended'
        : `${nameOf(user)} was already disabled at ${shortInstant(disabled_at, '')}`) +
        (user.banned_at === null ? '' : '. The site has banned the user, too'),
    )
  })
}

function enable(shell: Shell, email: string | undefined, options: UserOptions): Promise<void> {
  return changeUser(shell, email, options, async (store, user) => {
    const isNew = await setDisabled(store.database, user, false, presentInstant())
    if (options.json) printJson(shell, userJson({ ...user, disabled_at: null }))
    const name = nameOf(user)
    const done = isNew ? `enabled ${name}` : `${name} was not disabled`
    const works = isNew ? ": the user's keys work again, and the user can sign in" : ''
    say(shell, done + (user.banned_at === null ? works : BAN_STANDS))
  })
}

const BAN_STANDS =
  ", but the site's ban stands: the user has no access until the site lifts the ban"

/** False if the user was in that state before. */
async function setDisabled(
  database: Database,
  user: User,
  isDisabled: boolean,
  at: Instant,
): Promise<boolean> {
  const outcome = await disabledUsers(database).setDisabled(user.id, isDisabled, operatorAt(at))
  if (outcome === 'not found') throw removedMeanwhile(nameOf(user))
  return outcome === 'changed'
}

async function changeEmail(
  shell: Shell,
  addresses: readonly string[],
  options: UserOptions,
): Promise<void> {
  const [first, second, ...rest] = addresses
  const [old, wanted] = options.externalId === undefined ? [first, second] : [undefined, first]
  if (wanted === undefined || rest.length > 0 || (old === undefined && second !== undefined))
    throw new Misuse(
      'user email needs the old and the new email address, or --external-id and the new one\n' +
        HELP_HINT,
    )
  const email = readEmail(wanted)
  await changeUser(shell, old, options, async (store, user) => {
    const name = nameOf(user)
    const outcome = await emailChanges(store.database).setEmail(
      user.id,
      email,
      operatorAt(presentInstant()),
    )
    if (outcome === 'not found') throw removedMeanwhile(name)
    if (outcome === 'taken')
      throw new Failure(
        `the email address of ${name} was not changed: another user has ${email}. ` +
          '`server-listing user list` shows all users',
      )
    if (options.json) printJson(shell, userJson({ ...user, email }))
    say(
      shell,
      `changed the email address of ${name} to ${email}; the user's sessions, keys and password ` +
        'stay as they are',
    )
  })
}

function removedMeanwhile(name: string): Failure {
  return new Failure(`nothing was changed: another process has just removed ${name}`)
}
