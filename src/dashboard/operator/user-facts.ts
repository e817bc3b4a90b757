import { html } from 'hono/html'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import { audit } from '../../accounts/records/audit.ts'
import { identities } from '../../accounts/records/identities.ts'
import { sessionList } from '../../accounts/records/sessions.ts'
import { endsOf } from '../../accounts/user.ts'
import type { StoredSession } from '../../accounts/sessions.ts'
import type { UserDetails } from '../../directory/records/operator.ts'
import { apiKeys } from '../../keys/records/api-keys.ts'
import { AUDIT_KEPT_US, REFUSED_SHOWN_US } from '../../model/audit.ts'
import { DAY_US, HOUR_US, type Instant } from '../../model/instant.ts'
import { count } from '../../model/text.ts'
import { organizations } from '../../organizations/records/organizations.ts'
import { pill, showFacts } from '../../web/html/parts.ts'
import { agoInWords, showAgo } from '../../web/html/relative-time.ts'
import { type Html, isolated } from '../../web/html/text.ts'

const ORGANIZATIONS_SHOWN = 20
/** Addresses whose wrong passwords are counted. */
const ADDRESSES_COUNTED = 1_000

/** What an operator needs to know of a user. */
export async function showUserFacts(
  dashboard: AccountsDashboard,
  user: UserDetails,
): Promise<Html> {
  const { database, now } = dashboard
  const at = now()
  const { id, email, external_id, created_at, servers, organization_servers } = user
  const ends = endsOf(user)
  const keys = await apiKeys(database).listApiKeys(id, 0)
  const lastUse = Math.max(...keys.map(({ last_used_at }) => last_used_at ?? 0), 0)
  const sessions = await sessionList(database).listSessions(id, at)
  const refused = await audit(database).listRefusedSignIns(
    id,
    at - REFUSED_SHOWN_US,
    ADDRESSES_COUNTED,
  )
  const wrong = refused.reduce((sum, one) => sum + one.count, 0)
  const inside =
    organization_servers === 0 ? '' : `, ${count(organization_servers)} of them in organizations`
  return showFacts('Account', [
    [
      'State',
      ends.length === 0
        ? pill('enabled', 'good')
        : html`${pill('no access')} ${ends.map((end, index) => html`${index > 0 ? ', ' : ''}${end.words} ${showAgo(end.at, at)}`)}`,
    ],
    ['Email', email === null ? 'none' : isolated(email)],
    ['External id', external_id === null ? 'none' : isolated(external_id)],
    ['User id', html`<code>${id}</code>`],
    ['Joined', showAgo(created_at, at)],
    ['Sign-in', await showWaysIn(dashboard, user)],
    ['Last active', sayActive(user, sessions, at)],
    ['Sessions', sessions.length === 0 ? 'none' : count(sessions.length)],
    ['Wrong passwords', `${count(wrong)} in the last ${REFUSED_SHOWN_US / HOUR_US} hours`],
    [
      'Active keys',
      html`${count(keys.length)}${keys.length === 0 ? '' : lastUse === 0 ? ', never used' : html`, last used ${showAgo(lastUse, at)}`}`,
    ],
    ['Servers', `${count(servers)}${inside}`],
    ['Organizations', await showOrganizations(dashboard, id)],
  ])
}

/** A session's activity is exact to the hour, so a later sign-in is the better answer. */
function sayActive(
  { last_sign_in_at }: UserDetails,
  sessions: readonly StoredSession[],
  now: Instant,
): Html | string {
  const active = Math.max(last_sign_in_at ?? 0, ...sessions.map((one) => one.lastActiveAt))
  if (active === 0) return `not within the last ${AUDIT_KEPT_US / DAY_US} days`
  return now - active < HOUR_US ? 'within the last hour' : agoInWords(active, now)
}

async function showWaysIn(
  { database, passwords: withPasswords, oidc }: AccountsDashboard,
  { id, passwords, email }: UserDetails,
): Promise<Html> {
  const connected = await identities(database).listIdentities(id)
  const ways = [
    passwords > 0 &&
      (withPasswords
        ? email === null
          ? 'password, without an address'
          : 'password'
        : 'password, turned off'),
    ...connected.map(({ issuer }) => (issuer === oidc?.issuer ? oidc.name : issuer)),
  ].filter((way) => way !== false)
  if (ways.length === 0) return html`none`
  return html`${ways.map((way, index) => html`${index > 0 ? ', ' : ''}${isolated(way)}`)}`
}

async function showOrganizations({ database }: AccountsDashboard, userId: string): Promise<Html> {
  const joined = await organizations(database).listOrganizations(userId)
  if (joined.length === 0) return html`none`
  const more = joined.length - ORGANIZATIONS_SHOWN
  return html`${joined
    .slice(0, ORGANIZATIONS_SHOWN)
    .map(
      ({ name, role }, index) => html`${index > 0 ? ', ' : ''}${isolated(name)} (${role})`,
    )}${more > 0 ? ` and ${count(more)} more` : ''}`
}
