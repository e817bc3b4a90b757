import type { Command } from 'commander'
import { operatorAt } from '../../model/audit.ts'
import { presentInstant } from '../../model/instant.ts'
import { count, quote } from '../../model/text.ts'
import { changeStore, needOption } from '../../terminal/context.ts'
import { Failure, Misuse } from '../../terminal/errors.ts'
import { printJson, say } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import { complaintAboutIssuer } from '../../config/oidc.ts'
import { issuers } from '../records/issuers.ts'

interface Options {
  issuer?: string
  to?: string
  json?: boolean
}

export function addIdentitiesCommand(user: Command, shell: Shell): void {
  user
    .command('identities')
    .description('move the identities of an identity provider to its new issuer')
    .option('--issuer <url>', 'the issuer that the identities have now')
    .option('--to <url>', 'the new one, which OIDC_ISSUER is to have')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
For a provider that has moved to another URL and gives its users the same subjects as before. Set
OIDC_ISSUER and restart the service right after the command. All identities move, or none.

Example:
  server-listing user identities --issuer https://old.example.com --to https://id.example.com`,
    )
    .action((options) => move(shell, options))
}

async function move(shell: Shell, options: Options): Promise<void> {
  const issuer = needOption(options.issuer, '--issuer <url>')
  const to = needOption(options.to, '--to <url>')
  const complaint = complaintAboutIssuer(to)
  if (complaint !== null) throw new Misuse(`--to must ${complaint}, not ${quote(to)}`)
  if (to === issuer) throw new Misuse(`--issuer and --to are both ${quote(to)}`)
  await changeStore(shell, async ({ database, place }) => {
    const records = issuers(database)
    const outcome = await records.moveIdentities(issuer, to, operatorAt(presentInstant()))
    if ('taken' in outcome) {
      const { subject, from_user, to_user } = outcome.taken
      throw new Failure(
        `no identity was moved: the subject ${quote(subject)} is the user ${from_user} at ` +
          `${quote(issuer)}, and the user ${to_user} at ${quote(to)}. Remove one of the two, and ` +
          'run the command again',
      )
    }
    const { moved } = outcome
    if (moved === 0) {
      const found = (await records.listIssuers()).map(
        (one) => `${quote(one.issuer)} (${count(one.count)})`,
      )
      throw new Failure(
        `no identity in ${place} has the issuer ${quote(issuer)}. It must be exactly as ` +
          `OIDC_ISSUER was. The issuers there are: ${found.join(', ') || 'none'}`,
      )
    }
    if (options.json) printJson(shell, { issuer, to, moved })
    const identity = moved === 1 ? '1 identity' : `${count(moved)} identities`
    say(shell, `moved ${identity} from ${issuer} to ${to}`)
  })
}
