import { type Finding, ok, problem, warning } from '../../../model/health/finding.ts'
import {
  CALLBACK_PATH,
  type Discovery,
  discover,
  listed,
  type Metadata,
  promptsLogin,
  wantedScopes,
} from './discovery.ts'
import { CLOCK_TOLERANCE_SECONDS, clockFault, type ProviderFault } from './provider-fault.ts'
import type { ProviderOptions } from './provider.ts'

type Inspected = Pick<ProviderOptions, 'issuer' | 'clientId' | 'operatorGroup'>

const CHECK = 'provider'

/** Asks the provider about itself for `doctor`, as a sign-in does. */
export async function inspectProvider(
  provider: Inspected,
  dashboardUrl: string,
): Promise<Finding[]> {
  const redirectUri = `${dashboardUrl}${CALLBACK_PATH}`
  return [
    await discover(provider).then((discovery) => judge(discovery, provider), judgeFault),
    ok('redirect_uri', `the client ${provider.clientId} needs the redirect URI ${redirectUri}`),
  ]
}

/** This machine may not be that of the service. Wrong settings are wrong everywhere. */
function judgeFault({ message, reason }: ProviderFault): Finding {
  const advice = 'docs/site-sign-in.md says what to do about each message'
  return reason === 'settings' ? problem(CHECK, message, advice) : warning(CHECK, message, advice)
}

function judge({ metadata, clock }: Discovery, { issuer, operatorGroup }: Inspected): Finding {
  const [here, there] = [Date.now() / 1_000, clock / 1_000]
  if (Math.abs(here - there) > CLOCK_TOLERANCE_SECONDS)
    return problem(
      CHECK,
      clockFault(issuer, here, there).message,
      'set the clocks of both machines',
    )
  const missing = missingIn(metadata, operatorGroup !== null)
  const time = Number.isNaN(there) ? 'but not what time it is there' : 'and the clocks agree'
  if (missing.length === 0) return ok(CHECK, `${issuer} answers, ${time}`)
  return warning(
    CHECK,
    `${issuer} answers, and lists ${missing.join(', and ')}`,
    'docs/site-sign-in.md says what each provider needs',
  )
}

/** What a sign-in needs, and the provider does not list although it lists others of its kind. */
function missingIn(metadata: Metadata, needsGroups: boolean): string[] {
  const lacks = (name: string, value: string) => listed(metadata, name)?.includes(value) === false
  // Some providers have the groups in the profile.
  const scopes = wantedScopes(needsGroups).filter(
    (scope) => scope !== 'groups' && lacks('scopes_supported', scope),
  )
  const missing = scopes.map((scope) => `no scope ${scope}`)
  if (lacks('claims_supported', 'email_verified'))
    missing.push('no claim email_verified, without which no address finds an account')
  if (!promptsLogin(metadata))
    missing.push('no prompt login, so that users may have to sign out to confirm')
  if (metadata.userinfo_endpoint === undefined)
    missing.push('no UserInfo endpoint, so that the ID token must have the address')
  return missing
}
