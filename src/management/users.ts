import { audit } from '../accounts/records/audit.ts'
import { issueSignInLink } from '../accounts/records/issued-links.ts'
import { isOperatorAccount } from '../accounts/records/sessions.ts'
import { users } from '../accounts/records/users.ts'
import { LINK_HOURS } from '../accounts/sign-in-links.ts'
import { endsOf, type User } from '../accounts/user.ts'
import type { ApiKey } from '../keys/api-key.ts'
import { apiKeys } from '../keys/records/api-keys.ts'
import { issueApiKey } from '../keys/records/issued-keys.ts'
import { formatInstant, formatNullable } from '../model/instant.ts'
import { type Answer, json, refuse } from './answers.ts'
import type { Call, Management, Route } from './call.ts'

/** What a site reads and does for one of its users. */
export const userRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/v1\/users\/([^/]+)$/, answer: showUser },
  { method: 'POST', path: /^\/v1\/users\/([^/]+)\/keys$/, answer: issueKey },
  { method: 'DELETE', path: /^\/v1\/users\/([^/]+)\/keys\/([^/]+)$/, answer: revokeKey },
  { method: 'POST', path: /^\/v1\/users\/([^/]+)\/sign-in-link$/, answer: issueLink },
]

const NO_SUCH_USER = refuse(404, 'No user has this external id.')

async function showUser(management: Management, call: Call): Promise<Answer> {
  const user = await findUser(management, call)
  if (user === null) return NO_SUCH_USER
  const keys = await apiKeys(management.database).listApiKeys(user.id)
  return json({
    external_id: user.external_id,
    id: user.id,
    email: user.email,
    created_at: formatInstant(user.created_at),
    banned_at: formatNullable(user.banned_at),
    disabled_at: formatNullable(user.disabled_at),
    keys: keys.map(keyOf),
  })
}

async function issueKey(management: Management, call: Call): Promise<Answer> {
  const name = readFields(call.body, ['name'])?.name
  if (name === undefined)
    return refuse(400, 'The body must be {"name": "…"}: the name of the new key as a text.')
  const user = await findForAccess(management, call, 'key')
  if ('status' in user) return user
  const issued = await issueApiKey(management.database, user.id, name, call.actor)
  if ('refused' in issued) {
    const sentence = `${issued.refused.charAt(0).toUpperCase()}${issued.refused.slice(1)}.`
    return refuse(issued.because === 'name' ? 400 : 409, sentence)
  }
  return json({ ...keyOf(issued.apiKey), key: issued.key }, 201)
}

async function revokeKey(management: Management, call: Call): Promise<Answer> {
  const user = await findUser(management, call)
  if (user === null) return NO_SUCH_USER
  const id = call.parameters[1]!
  const revoked = await apiKeys(management.database).revokeApiKey(user.id, id, call.actor)
  return revoked === null ? refuse(404, 'The user has no key with this id.') : json(keyOf(revoked))
}

async function issueLink(management: Management, call: Call): Promise<Answer> {
  if (call.body !== undefined && readFields(call.body, []) === null)
    return refuse(400, 'A sign-in link needs no body, or {}.')
  const user = await findForAccess(management, call, 'sign-in link')
  if ('status' in user) return user
  const { database, dashboardUrl, passwords } = management
  const link = await issueSignInLink(database, user.id, LINK_HOURS, call.actor, passwords)
  if (link === null)
    return refuse(409, 'The user has no email address, which a sign-in link needs.')
  return json(
    { url: `${dashboardUrl}${link.path}`, expires_at: formatInstant(link.expiresAt) },
    201,
  )
}

async function findUser({ database }: Management, { parameters }: Call): Promise<User | null> {
  const externalId = parameters[0]!
  // No user has one with a NUL, which PostgreSQL takes in no text.
  return externalId.includes('\0') ? null : users(database).findExternalUser(externalId)
}

/** The user, or the answer that the site gets no access in the name of this account. */
async function findForAccess(
  management: Management,
  call: Call,
  wanted: 'key' | 'sign-in link',
): Promise<User | Answer> {
  const user = await findUser(management, call)
  if (user === null) return NO_SUCH_USER
  const { database, operators } = management
  const { address, at: occurred_at } = call.actor
  if (await isOperatorAccount(database, user, operators, occurred_at)) {
    const entry = { action: 'site refused', user_id: user.id, subject: wanted } as const
    await audit(database).writeAudit({ ...entry, address, occurred_at })
    return refuse(403, `This is the account of an operator, for which a site makes no ${wanted}.`)
  }
  const ends = endsOf(user).map(({ words }) => words)
  return ends.length === 0 ? user : refuse(409, `The user is ${ends.join(' and ')}.`)
}

/** The fields of a body that has exactly these, as texts. Null if it differs. */
function readFields<Name extends string>(
  body: unknown,
  names: readonly Name[],
): Record<Name, string> | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null
  const entries = Object.entries(body)
  const isRight =
    entries.length === names.length &&
    entries.every(([name, value]) => names.includes(name as Name) && typeof value === 'string')
  return isRight ? (body as Record<Name, string>) : null
}

/** A key without its user, whom the path names. */
function keyOf({ id, name, prefix, created_at, revoked_at, last_used_at }: ApiKey): object {
  return {
    id,
    name,
    prefix,
    created_at: formatInstant(created_at),
    revoked_at: formatNullable(revoked_at),
    last_used_at: formatNullable(last_used_at),
  }
}
