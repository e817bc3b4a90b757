import { type State, actionsOf, openEverything, sending, submit } from './actions.ts'
import assert from 'node:assert/strict'
import { everyRoute } from '../../dashboard/every-route.ts'
import type { FullAccount, People } from './full-account.ts'

export const SETUP_TOKEN = 'token'
export const NEWCOMER_EMAIL = 'bob@example.com'

export const FIRST: State[] = [{ path: 'sign-in' }, { path: `setup/${SETUP_TOKEN}` }]

export const VISITOR: State[] = [
  { path: 'sign-in' },
  { path: 'sign-up' },
  { path: 'nothing' },
  {
    path: 'sign-in',
    async act(page) {
      await page.fill('#email', 'ada@example.com')
      await page.fill('#password', 'not this one')
      await submit(page, 'main button')
    },
  },
  sending(
    'sign-up',
    { '#email': 'new-here@x', '#password': 'new-here@x' },
    'main button',
    '#password-error',
  ),
]

export const NEWCOMER: State[] = [
  'start',
  'api',
  'servers',
  'servers/new',
  'servers/import',
  'organizations',
  'account',
].map((path) => ({ path: `dashboard/${path}` }))

export function statesOfFullAccount(account: FullAccount & People): State[] {
  // What users do further down unpublishes the server.
  return [{ path: `servers/${account.server}` }, ...pagesOf(account), ...statesOf(account)]
}

/** A page for each route that shows one to a signed-in user. */
function pagesOf(account: FullAccount & People): State[] {
  const { server, key, organization, member, empty } = account
  const routes = everyRoute().flatMap(({ method, path }) =>
    method === 'GET' && /^\/dashboard\/[^.*]+$/.test(path) ? path.slice(1) : [],
  )
  assert.ok(routes.length >= 10)
  return routes.map((route) => {
    const path = route
      .replace('organizations/:id/remove', `organizations/${empty}/remove`)
      .replace('users/:id', `users/${member}`)
      .replace(':member', member)
      .replace('organizations/:id', `organizations/${organization}`)
      .replace('servers/:id', `servers/${server}`)
      .replace('api/:id', `api/${key}`)
    assert.ok(!path.includes(':'), `there is no record for ${route}`)
    return { path }
  })
}

/** A list with a checked box, so that the bar is in sight. */
function selecting(path: string, box: string): State {
  return {
    path,
    async act(page) {
      await page.check(box)
      await page.waitForSelector('.bar', { state: 'visible' })
    },
  }
}

function statesOf({ organization }: FullAccount): State[] {
  const members = `dashboard/organizations/${organization}/members`
  return [
    { path: 'dashboard/servers?page=2' },
    { path: 'dashboard/servers?q=nothing&status=draft' },
    { path: 'dashboard/servers?status=other' },
    { path: 'dashboard/servers?select=1&sort=name' },
    selecting('dashboard/servers', 'tbody [type=checkbox] >> nth=1'),
    selecting('dashboard/servers', '[name=all]'),
    { path: 'dashboard/api', act: openEverything },
    { path: 'docs', act: openEverything },
    { path: 'docs/guide' },
    { path: 'docs/questions' },
    ...actionsOf(members),
  ]
}
