import { randomUUID } from 'node:crypto'

/*
 * Every route of the dashboard, with what it answers to each role.
 */

/** What the owner has: an organization with a member, and a former member. */
export interface Place {
  /** A personal draft. */
  server: string
  /** A personal server that is published. */
  shown: string
  /** The server that the owner registered under the organization. */
  shared: string
  /** The server that the former member registered under the organization. */
  left: string
  key: string
  /** An import that waits for the owner. */
  waiting: string
  organization: string
  member: string
  /** An open invitation to the organization. */
  invitation: string
}

/**
 * The status of a route for each role. It is 404 for those that the route leaves out, and visitors
 * are asked to sign in.
 */
export interface Route {
  method: 'GET' | 'POST'
  path: string
  owner?: number
  member?: number
  former?: number
  operator?: number
  /** The status for every signed-in user. The page has only that user's records. */
  own?: number
  /** The status for visitors, if they need not sign in. */
  visitor?: number
  /** The status for everyone, visitors included. */
  everyone?: number
  fields?: Record<string, string>
}

/** The last part of the path of what an operator does to a user. */
const OPERATOR_ACTS = ['link', 'sign-out', 'disable', 'enable']

export const FIELDS = { name: 'Changed', address: 'b.example', edition: 'java', status: 'draft' }

/** Every route for every role. The last ones change what the earlier ones need. */
export function routesOf(place: Place): Route[] {
  return [
    ...publicRoutes(place),
    ...ownRoutes(),
    ...readingRoutes(place),
    ...changingRoutes(place),
    { method: 'POST', path: '/sign-out', everyone: 303 },
  ]
}

function publicRoutes({ shown, server, shared }: Place): Route[] {
  const docs = ['', '/guide', '/clients', '/questions', '/openapi.json']
  const examples = ['sh', 'py', 'ts', 'go', 'java'].map((kind) => `poll.${kind}`)
  const files = [...examples, 'discord-bot.mjs'].map((file) => `/examples/${file}`)
  const address = `${randomUUID()}@example.com`
  return [
    ...[...docs, ...files, '/server-listing-client.tgz'].map((path) => {
      return { method: 'GET', path: `/docs${path}`, everyone: 200 } as const
    }),
    { method: 'GET', path: '/robots.txt', everyone: 200 },
    { method: 'GET', path: '/docs/errors', everyone: 301 },
    { method: 'GET', path: '/dashboard/docs', everyone: 301 },
    { method: 'GET', path: '/dashboard/docs/guide', everyone: 301 },
    { method: 'GET', path: '/', everyone: 303 },
    { method: 'GET', path: '/sign-up', everyone: 200 },
    { method: 'POST', path: '/sign-up', everyone: 422, fields: { email: address } },
    { method: 'POST', path: '/sign-in', everyone: 401, fields: { email: address } },
    { method: 'GET', path: '/setup/x', everyone: 404 },
    { method: 'POST', path: '/setup/x', everyone: 404 },
    { method: 'GET', path: '/link/x', everyone: 404 },
    { method: 'POST', path: '/link/x', everyone: 404 },
    { method: 'GET', path: `/servers/${shown}`, everyone: 200 },
    { method: 'GET', path: `/servers/${server}`, everyone: 404 },
    { method: 'GET', path: `/servers/${shared}`, everyone: 404 },
  ]
}

/** Forms here are refused for what they contain, so that they change nothing. */
function ownRoutes(): Route[] {
  const account = '/dashboard/account'
  const wrong = { password: 'wrong', email: 'new@example.com', 'new-password': 'long enough, too' }
  return [
    { method: 'GET', path: '/sign-in', own: 303, visitor: 200 },
    { method: 'GET', path: '/dashboard', own: 303 },
    { method: 'GET', path: '/dashboard/start', own: 200, owner: 303 },
    { method: 'GET', path: '/dashboard/api', own: 200 },
    { method: 'GET', path: '/dashboard/servers', own: 200 },
    { method: 'GET', path: '/dashboard/servers/new', own: 200 },
    { method: 'GET', path: '/dashboard/servers/preview.json', own: 200 },
    { method: 'GET', path: '/dashboard/servers/export.csv', own: 200 },
    { method: 'GET', path: '/dashboard/servers/export.json', own: 200 },
    { method: 'GET', path: '/dashboard/servers/import', own: 200 },
    { method: 'GET', path: '/dashboard/organizations', own: 200 },
    { method: 'GET', path: account, own: 200 },
    { method: 'GET', path: `${account}/delete`, own: 200 },
    { method: 'POST', path: '/dashboard/api', own: 403 },
    { method: 'POST', path: '/dashboard/api/leaked', own: 422 },
    { method: 'POST', path: '/dashboard/servers/new', own: 422 },
    { method: 'POST', path: '/dashboard/servers/import', own: 415 },
    { method: 'POST', path: '/dashboard/servers/undo', own: 303 },
    { method: 'POST', path: '/dashboard/organizations', own: 422 },
    { method: 'POST', path: `${account}/email`, own: 403, fields: wrong },
    { method: 'POST', path: `${account}/password`, own: 403, fields: wrong },
    { method: 'POST', path: `${account}/delete`, own: 422 },
    { method: 'POST', path: `${account}/sessions`, own: 303, fields: { session: randomUUID() } },
  ]
}

function readingRoutes(place: Place): Route[] {
  const { server, shared, left, key, organization, member, invitation, waiting } = place
  const under = `/dashboard/organizations/${organization}`
  const user = `/dashboard/operator/users/${member}`
  return [
    { method: 'GET', path: '/dashboard/operator', operator: 200 },
    { method: 'GET', path: '/dashboard/operator/users', operator: 200 },
    { method: 'GET', path: user, operator: 200 },
    ...OPERATOR_ACTS.flatMap((act): Route[] => [
      { method: 'GET', path: `${user}/${act}`, operator: 200 },
      // The session of the operator is old by now.
      { method: 'POST', path: `${user}/${act}`, operator: 403 },
    ]),
    { method: 'GET', path: `/dashboard/servers/import/${waiting}`, owner: 200 },
    { method: 'GET', path: `/dashboard/api/${key}`, owner: 200 },
    { method: 'GET', path: `/dashboard/api/${key}/delete`, owner: 200 },
    { method: 'GET', path: `/dashboard/api/${key}/replace`, owner: 200 },
    { method: 'GET', path: `/dashboard/api/${key}/arrival`, owner: 200 },
    { method: 'GET', path: `/dashboard/servers/${server}`, owner: 200 },
    { method: 'GET', path: `/dashboard/servers/${server}/delete`, owner: 200 },
    { method: 'GET', path: `/dashboard/servers/${shared}`, owner: 200, member: 200 },
    { method: 'GET', path: `/dashboard/servers/${shared}/delete`, owner: 200 },
    { method: 'GET', path: `/dashboard/servers/${left}`, owner: 200, member: 200, former: 200 },
    { method: 'GET', path: `/dashboard/servers/${left}/delete`, former: 200 },
    { method: 'GET', path: under, owner: 200, member: 200 },
    { method: 'GET', path: `${under}/members`, owner: 200, member: 200 },
    { method: 'GET', path: `${under}/members/${member}/remove`, owner: 200, member: 200 },
    { method: 'GET', path: `${under}/members/${invitation}/withdraw`, owner: 200 },
    // Of an organization with servers, and without an invitation for any of them.
    { method: 'GET', path: `${under}/remove` },
    { method: 'GET', path: `${under}/decline` },
  ]
}

function changingRoutes(place: Place): Route[] {
  const { server, left, key, organization, member, waiting } = place
  const under = `/dashboard/organizations/${organization}`
  return [
    { method: 'POST', path: `/dashboard/servers/import/${waiting}`, owner: 409 },
    { method: 'POST', path: `/dashboard/servers/${server}`, owner: 303, fields: FIELDS },
    {
      method: 'POST',
      path: `/dashboard/servers/${left}`,
      former: 422,
      fields: { ...FIELDS, organization_id: organization },
    },
    {
      method: 'POST',
      path: '/dashboard/servers/change',
      owner: 303,
      fields: { draft: '0', rows: server },
    },
    { method: 'POST', path: `${under}/members`, owner: 303, fields: { email: 'bob@example.com' } },
    { method: 'POST', path: `${under}/members/${randomUUID()}/withdraw`, owner: 404 },
    { method: 'POST', path: `${under}/members/${randomUUID()}/remove`, owner: 404 },
    { method: 'POST', path: `${under}/return`, owner: 303 },
    { method: 'POST', path: `${under}/accept`, owner: 303, member: 303 },
    { method: 'POST', path: `${under}/decline`, owner: 404 },
    { method: 'POST', path: `${under}/remove`, owner: 404 },
    { method: 'POST', path: `/dashboard/api/${key}`, owner: 422 },
    { method: 'POST', path: `/dashboard/api/${key}/delete`, owner: 303 },
    {
      method: 'POST',
      path: '/dashboard/servers/change',
      owner: 303,
      fields: { to: 'deleted for sure', rows: server },
    },
    { method: 'POST', path: `${under}/members/${member}/remove`, owner: 303, member: 303 },
  ]
}
