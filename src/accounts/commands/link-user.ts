import type { Command } from 'commander'
import { type Config, ownUrlOf } from '../../config/config.ts'
import { LINK_HOURS, LINK_HOURS_MAX } from '../sign-in-links.ts'
import { nameOf, type User } from '../user.ts'
import { formatInstant, presentInstant } from '../../model/instant.ts'
import { loadConfig } from '../../terminal/context.ts'
import { addUserCommand, changeUser, type UserOptions } from './named-user.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { print, printJson, say, shortInstant } from '../../terminal/output.ts'
import { readNumber } from '../../terminal/spans.ts'
import type { Shell } from '../../terminal/shell.ts'
import { operatorAt } from '../../model/audit.ts'

interface LinkOptions extends UserOptions {
  hours?: string
}

export function addLinkCommand(user: Command, shell: Shell): void {
  addUserCommand(
    user,
    'link',
    'print a link with which the user sets a new password and signs in, once',
  )
    .option(
      '--hours <n>',
      `how long the link works, 1 to ${LINK_HOURS_MAX} hours (default: ${LINK_HOURS})`,
    )
    .addHelpText(
      'after',
      `
For the first account and for a lost password, without mail. The address of the link is that of
DASHBOARD_URL. With PASSWORDS=off the link begins one session and sets no password.

Examples:
  server-listing user link ada@example.com
  server-listing user link ada@example.com --hours 24`,
    )
    .action((email, options) => link(shell, email, options))
}

/** Prints a link with which the user sets a new password. */
async function link(shell: Shell, email: string | undefined, options: LinkOptions): Promise<void> {
  const hours = readNumber(options.hours ?? String(LINK_HOURS), '--hours', 1, LINK_HOURS_MAX)
  const config = loadConfig(shell)
  const base = readDashboardUrl(config)
  // Loaded here: other commands of the group need no cryptography.
  const { issueSignInLink } = await import('../records/issued-links.ts')
  await changeUser(shell, email, options, async (store, user) => {
    const { email: address } = user
    if (address === null) throw refusal(user, 'no email address', 'user email')
    const actor = operatorAt(presentInstant())
    const made = await issueSignInLink(store.database, user.id, hours, actor)
    if (made === null && user.banned_at !== null && user.disabled_at === null)
      throw new Failure(
        `no link was made: ${nameOf(user)} is banned by the site, and can't sign in until the site ` +
          'lifts the ban',
      )
    if (made === null) throw refusal(user, 'been disabled or removed', 'user enable')
    const { path, expiresAt } = made
    const url = `${base}${path}`
    if (options.json)
      printJson(shell, {
        user_id: user.id,
        email: address,
        url,
        expires_at: formatInstant(expiresAt),
      })
    else print(shell, url)
    say(
      shell,
      `the link signs in ${address} once, until ${shortInstant(expiresAt, '')}` +
        `${config.passwords ? ', and asks for a new password' : ''}. Earlier links of this user no ` +
        'longer work',
    )
  })
}

function refusal(user: User, state: string, command: string): Failure {
  return new Failure(
    `no link was made: ${nameOf(user)} has ${state}, and can't sign in. ` +
      `\`server-listing ${command}\` changes that`,
  )
}

function readDashboardUrl({ dashboardUrl, host, dashboardPort }: Config): string {
  if (dashboardUrl !== null) return dashboardUrl
  if (dashboardPort !== 0) return ownUrlOf(host, dashboardPort)
  throw new Misuse('DASHBOARD_URL must be set, because DASHBOARD_PORT is 0, which is any free port')
}
