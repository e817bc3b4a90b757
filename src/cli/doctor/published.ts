import type { Config } from '../../config/config.ts'
import { isLoopback, isSafe } from '../../config/public-url.ts'
import { type Finding, ok, problem, warning } from '../../model/health/finding.ts'
import { ask, type Unanswered } from '../ask.ts'

/** How long a public URL may take to answer. */
const ANSWER_MS = 5_000
/** Certificates are renewed earlier than that. */
const CERTIFICATE_DAYS_MIN = 14

/** Asks the public URLs, if there are any, for what must be there, and says what the pages show. */
export async function inspectPublished(config: Config): Promise<Finding[]> {
  const { baseUrl, dashboardUrl } = config
  const asked: Promise<Finding>[] = []
  if (baseUrl !== null) asked.push(inspectUrl('api', baseUrl, '/health', /"ok":true/))
  if (dashboardUrl !== null)
    asked.push(inspectUrl('dashboard', dashboardUrl, '/sign-in', /\/assets\/style-[\da-f]{8}\.css/))
  return [...(await Promise.all(asked)), ...inspectProxies(config), describeSite(config)]
}

/** What the pages call the site, and whom they tell users to ask. */
function describeSite({ siteName, siteUrl, contact, passwords, oidc }: Config): Finding {
  const name = siteName === null ? 'SITE_NAME is not set' : `the pages are called ${siteName}`
  const whom = contact === null ? 'CONTACT is not set' : `they name the contact ${contact}`
  const links =
    passwords || oidc !== null
      ? ''
      : `. Users sign in by links alone, from ${siteUrl ?? 'the operator, because SITE_URL is not set'}`
  return ok('site', `${name}, and ${whom}${links}`)
}

/** A public URL with https means that a proxy is in front. Without one, there is nothing to say. */
export function inspectProxies({
  baseUrl,
  dashboardUrl,
  host,
  trustedProxies,
}: Pick<Config, 'baseUrl' | 'dashboardUrl' | 'host' | 'trustedProxies'>): Finding[] {
  const consequences = [
    ...(isHttps(dashboardUrl)
      ? ['all visitors of the dashboard share the address of the proxy and its limits']
      : []),
    // On a loopback address only this machine connects, and its connections have no limit.
    ...(isHttps(baseUrl) && !isLoopback(host)
      ? ['a proxy on another machine can have a quarter of the connections to the API']
      : []),
  ]
  if (consequences.length === 0) return []
  if (trustedProxies.length > 0)
    return [ok('proxies', `the service trusts the proxies ${trustedProxies.join(', ')}`)]
  return [
    warning(
      'proxies',
      `a public URL is https, so a proxy is in front of the service, and TRUSTED_PROXIES is empty: ${consequences.join(', and ')}`,
      'set TRUSTED_PROXIES to the address of the proxy',
    ),
  ]
}

function isHttps(url: string | null): boolean {
  return url?.startsWith('https:') ?? false
}

async function inspectUrl(
  check: string,
  base: string,
  path: string,
  expected: RegExp,
): Promise<Finding> {
  const url = `${base}${path}`
  if (!isSafe(base))
    return warning(
      check,
      `${base} is not encrypted, so others on the network can read keys and passwords`,
      'put a proxy with HTTPS in front of the service: docs/proxies.md',
    )
  try {
    const { status, body, daysLeft } = await ask(url, ANSWER_MS)
    if (status !== 200 || !expected.test(body))
      return problem(
        check,
        `${url} answers ${status}, and the answer is not that of this service`,
        'is the service running, and does the proxy pass requests to it? docs/proxies.md has configurations',
      )
    return judgeCertificate(check, base, daysLeft) ?? ok(check, `${url} answers`)
  } catch (error) {
    return judgeFailure(check, url, error as Unanswered)
  }
}

/** A warning about a certificate that expires soon. */
export function judgeCertificate(
  check: string,
  base: string,
  daysLeft: number | null,
): Finding | null {
  if (daysLeft === null || daysLeft >= CERTIFICATE_DAYS_MIN) return null
  return warning(
    check,
    `the certificate of ${base} expires in ${Math.floor(daysLeft)} days`,
    'find out why it was not renewed',
  )
}

/** A certificate is wrong everywhere. Other failures may be of this machine's network only. */
function judgeFailure(check: string, url: string, { message: reason, cause }: Unanswered): Finding {
  if (/CERT|SELF_SIGNED|UNABLE_TO|INVALID_CA/.test(reason))
    return problem(
      check,
      `the certificate of ${url} is not accepted: ${(cause as Error).message}`,
      'renew it, send its whole chain, and check the host name',
    )
  if (reason === 'ENOTFOUND')
    return warning(
      check,
      `this machine does not know the host name of ${url}`,
      'add the name to your DNS, or correct BASE_URL or DASHBOARD_URL',
    )
  return warning(
    check,
    `${url} does not answer this machine (${reason})`,
    'try it from elsewhere; a firewall may keep this machine from its own public address',
  )
}
