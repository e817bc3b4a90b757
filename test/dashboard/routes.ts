import { randomUUID } from 'node:crypto'

/*
 * Every route of the dashboard, with what it answers to each role.
 */

export interface Place {
  server: string
  /** The server that the owner registered under the organization. */
  shared: string
  key: string
  /** An import that waits for the owner. */
  waiting: string
  organization: string
  member: string
}

/** The status of a route for an owner, for a member, and for other users. */
export interface Route {
  method: 'GET' | 'POST'
  path: string
  owner: number
  member?: number
  /** True for pages that visitors get, too. */
  isPublic?: boolean
  /** True for pages that every user has, with only that user's records. */
  isOwn?: boolean
  fields?: Record<string, string>
}

export const FIELDS = { name: 'Changed', address: 'b.example', edition: 'java', status: 'draft' }

/** Every route for every role. The last ones change what the earlier ones need. */
export function routesOf(place: Place): Route[] {
  return [...readingRoutes(place), ...changingRoutes(place)]
}

function readingRoutes(place: Place): Route[] {
  const { server, shared, key, organization, waiting } = place
  const under = `/dashboard/organizations/${organization}`
  return [
    { method: 'GET', path: '/dashboard', owner: 303, isOwn: true },
    { method: 'GET', path: '/dashboard/api', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/servers', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/servers/new', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/servers/preview.json', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/servers/export.csv', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/servers/export.json', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/servers/import', owner: 200, isOwn: true },
    { method: 'GET', path: `/dashboard/servers/import/${waiting}`, owner: 200 },
    { method: 'GET', path: '/dashboard/organizations', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/account', owner: 200, isOwn: true },
    { method: 'GET', path: '/docs', owner: 200, isPublic: true },
    { method: 'GET', path: '/docs/guide', owner: 200, isPublic: true },
    { method: 'GET', path: '/docs/errors', owner: 200, isPublic: true },
    { method: 'GET', path: '/docs/reference', owner: 200, isPublic: true },
    { method: 'GET', path: '/docs/questions', owner: 200, isPublic: true },
    { method: 'GET', path: '/docs/openapi.json', owner: 200, isPublic: true },
    { method: 'GET', path: '/docs/examples/poll.py', owner: 200, isPublic: true },
    { method: 'GET', path: '/dashboard/docs', owner: 301, isPublic: true },
    { method: 'GET', path: '/dashboard/docs/guide', owner: 301, isPublic: true },
    { method: 'GET', path: '/dashboard/operator', owner: 200 },
    { method: 'GET', path: `/dashboard/api/${key}/delete`, owner: 200 },
    { method: 'GET', path: `/dashboard/api/${key}/replace`, owner: 200 },
    { method: 'GET', path: `/dashboard/api/${key}/arrival`, owner: 200 },
    { method: 'GET', path: `/dashboard/servers/${server}`, owner: 200 },
    { method: 'GET', path: `/dashboard/servers/${server}/delete`, owner: 200 },
    { method: 'GET', path: `/dashboard/servers/${shared}`, owner: 200, member: 200 },
    { method: 'GET', path: `/dashboard/servers/${shared}/delete`, owner: 200 },
    { method: 'GET', path: under, owner: 200, member: 200 },
    { method: 'GET', path: `${under}/members`, owner: 200, member: 200 },
  ]
}

function changingRoutes(place: Place): Route[] {
  const { server, key, organization, member, waiting } = place
  const under = `/dashboard/organizations/${organization}`
  return [
    { method: 'POST', path: `/dashboard/servers/import/${waiting}`, owner: 409 },
    { method: 'POST', path: `/dashboard/servers/${server}`, owner: 303, fields: FIELDS },
    {
      method: 'POST',
      path: '/dashboard/servers/change',
      owner: 303,
      fields: { draft: '0', rows: server },
    },
    { method: 'POST', path: `${under}/members`, owner: 303, fields: { email: 'bob@example.com' } },
    {
      method: 'POST',
      path: `${under}/members/withdraw`,
      owner: 404,
      fields: { invited: randomUUID() },
    },
    {
      method: 'POST',
      path: `${under}/members/remove`,
      owner: 404,
      fields: { member: randomUUID() },
    },
    { method: 'POST', path: `${under}/return`, owner: 303 },
    { method: 'POST', path: `${under}/accept`, owner: 303, member: 303 },
    { method: 'POST', path: `${under}/decline`, owner: 404 },
    { method: 'POST', path: `${under}/remove`, owner: 404 },
    {
      method: 'POST',
      path: '/dashboard/account/sessions',
      owner: 303,
      isOwn: true,
      fields: { session: randomUUID() },
    },
    { method: 'POST', path: `/dashboard/api/${key}/delete`, owner: 303 },
    {
      method: 'POST',
      path: '/dashboard/servers/change',
      owner: 303,
      fields: { to: 'deleted for sure', rows: server },
    },
    {
      method: 'POST',
      path: `${under}/members/remove`,
      owner: 303,
      member: 303,
      fields: { member },
    },
  ]
}
