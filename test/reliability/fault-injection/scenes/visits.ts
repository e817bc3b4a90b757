import { everyRoute } from '../../../dashboard/every-route.ts'
import { PASSWORD } from '../../../fixtures/dashboard.ts'
import type { AddressedUser } from '../../../../src/accounts/user.ts'
import type { Scene } from './dashboard-scene.ts'
import { isWithoutAccess } from '../shape.ts'
import { serverVisits } from './server-visits.ts'
import { posting, type Visit } from './visit.ts'

const NEW_PASSWORD = 'another battery of horses'
const OPERATOR = '/dashboard/operator/users'
/** Addresses that the visits create. */
export const EMAILS = { signedUp: 'new@example.com', changed: 'lovelace@example.com' }

export function readingVisits(scene: Scene): Visit[] {
  const { keys, server, organization, emptyOrganization, otherOrganization, waiting, link } = scene
  const organizations = '/dashboard/organizations'
  const members = `${organizations}/${organization}/members`
  const pages: [route: string, path?: string][] = [
    ['/dashboard/api'],
    ['/dashboard/api/:id', `/dashboard/api/${keys[0]!.id}`],
    ['/dashboard/api/:id/delete', `/dashboard/api/${keys[0]!.id}/delete`],
    ['/dashboard/api/:id/replace', `/dashboard/api/${keys[0]!.id}/replace`],
    ['/dashboard/api/:id/arrival', `/dashboard/api/${keys[0]!.id}/arrival`],
    ['/dashboard/servers'],
    ['/dashboard/servers/new'],
    ['/dashboard/servers/preview.json'],
    ['/dashboard/servers/export.csv'],
    ['/dashboard/servers/export.json'],
    ['/dashboard/servers/import'],
    ['/dashboard/servers/import/:id', `/dashboard/servers/import/${waiting.id}`],
    ['/dashboard/servers/:id', `/dashboard/servers/${server}`],
    ['/dashboard/servers/:id/delete', `/dashboard/servers/${server}/delete`],
    [organizations],
    [`${organizations}/:id`, `${organizations}/${organization}`],
    [`${organizations}/:id/remove`, `${organizations}/${emptyOrganization}/remove`],
    [`${organizations}/:id/decline`, `${organizations}/${otherOrganization}/decline`],
    [`${organizations}/:id/members`, members],
    [`${organizations}/:id/members/:member/remove`, `${members}/${scene.bob.id}/remove`],
    [
      `${organizations}/:id/members/:invitation/withdraw`,
      `${members}/${scene.invitation}/withdraw`,
    ],
    ['/dashboard/account'],
    ['/dashboard/account/delete'],
    ...['', '/guide', '/clients', '/questions', '/openapi.json'].map((end): [string] => [
      `/docs${end}`,
    ]),
    ['/dashboard/operator'],
    ['/dashboard/operator/users'],
    ['/dashboard/operator/users/:id', `${OPERATOR}/${scene.bob.id}`],
    ...['link', 'sign-out', 'disable', 'enable'].map((act): [string, string] => [
      `${OPERATOR}/:id/${act}`,
      `${OPERATOR}/${scene.bob.id}/${act}`,
    ]),
    ...everyRoute().flatMap(({ path }): [string][] =>
      path.startsWith('/docs/examples/') ? [[path]] : [],
    ),
  ]
  const redirects: [route: string, path?: string][] = [
    ['/'],
    ['/dashboard'],
    ['/dashboard/start'],
    ['/sign-in'],
  ]
  return [
    ...pages.map(([route, path]) => reading(route, path, 200)),
    ...redirects.map(([route, path]) => reading(route, path, 303)),
    reading('/docs/errors', '/docs/errors', 301),
    reading('/dashboard/docs', '/dashboard/docs', 301),
    reading('/dashboard/docs/*', '/dashboard/docs/guide', 301),
    { ...reading('/sign-up', '/sign-up', 200), isStranger: true },
    { ...reading('/link/:token', `/link/${link}`), isStranger: true },
    { ...reading('/servers/:id', `/servers/${server}`), isStranger: true },
    ...['/docs/server-listing-client.tgz', '/robots.txt'].map((path) => ({
      ...reading(path),
      isStranger: true,
    })),
  ]
}

function reading(route: string, path = route, status = 200): Visit {
  return { name: `GET ${route}`, route: `get ${route}`, status, visit: (ada) => ada.get(path) }
}

/** Visits that change something without a password. */
export function changingVisits(scene: Scene): Visit[] {
  return [
    ...serverVisits(scene),
    ...keyVisits(scene),
    ...organizationVisits(scene),
    ...operatorVisits(scene),
  ]
}

function operatorVisits({ bob, disabled }: Scene): Visit[] {
  return [
    acting(bob, 'sign-out', 303),
    acting(bob, 'disable', 303),
    acting(disabled, 'enable', 303),
  ]
}

function keyVisits({ keys, otherSession }: Scene): Visit[] {
  const leaked = keys.map(({ key }) => key).join(' ')
  return [
    { ...posting('/dashboard/api', 200, { name: 'bot', form: 'f' }), repeated: 409 },
    posting('/dashboard/api/:id', 303, { name: 'renamed' }, `/dashboard/api/${keys[0]!.id}`),
    posting('/dashboard/api/:id/delete', 303, {}, `/dashboard/api/${keys[0]!.id}/delete`),
    posting('/dashboard/api/leaked', 303, { leaked }),
    posting('/sign-out', 303),
    { ...posting('/dashboard/account/sessions', 303), repeated: 401 },
    {
      ...posting('/dashboard/account/delete', 200, { confirmation: 'ada@example.com' }),
      repeated: 401,
      isInParts: true,
      isBetween: isWithoutAccess,
    },
    {
      ...posting('/dashboard/account/sessions', 303, { session: otherSession }),
      name: 'ending a session',
    },
  ]
}

function acting({ id }: AddressedUser, act: string, status: number, fields = {}): Visit {
  return posting(`${OPERATOR}/:id/${act}`, status, fields, `${OPERATOR}/${id}/${act}`)
}

function organizationVisits(scene: Scene): Visit[] {
  const { organization, emptyOrganization, otherOrganization, bob, invitation } = scene
  return [
    posting('/dashboard/organizations', 303, { name: 'Red Stone', slug: 'red-stone', form: 'o' }),
    under(organization, 'members', { email: 'eve@example.com' }),
    {
      ...under(organization, 'members/:invitation/withdraw', {}, `members/${invitation}/withdraw`),
      repeated: 404,
    },
    {
      ...under(organization, 'members/:member/remove', {}, `members/${bob.id}/remove`),
      repeated: 404,
    },
    under(organization, 'return'),
    under(otherOrganization, 'accept'),
    { ...under(otherOrganization, 'decline'), repeated: 404 },
    { ...under(emptyOrganization, 'remove'), repeated: 404 },
  ]
}

/** Visits that check or set a password, which takes a while. */
export function passwordVisits({ user, bob, link }: Scene): Visit[] {
  const signIn = { email: user.email, password: PASSWORD }
  return [
    { ...posting('/sign-in', 303, signIn), isStranger: true, beginsSession: true },
    {
      ...posting('/sign-in', 401, { ...signIn, password: NEW_PASSWORD }),
      name: 'a wrong password',
      isStranger: true,
    },
    {
      ...posting('/sign-up', 303, { email: EMAILS.signedUp, password: PASSWORD }),
      repeated: 422,
      isStranger: true,
      beginsSession: true,
    },
    {
      ...posting('/link/:token', 303, { password: NEW_PASSWORD }, `/link/${link}`),
      repeated: 404,
      isStranger: true,
      beginsSession: true,
    },
    {
      ...posting('/dashboard/account/email', 303, {
        email: EMAILS.changed,
        password: PASSWORD,
      }),
    },
    {
      ...posting('/dashboard/account/password', 303, {
        'new-password': NEW_PASSWORD,
        password: PASSWORD,
      }),
      repeated: 401,
      beginsSession: true,
    },
    {
      ...posting('/dashboard/api', 200, { name: 'late', form: 'g', password: PASSWORD }),
      name: 'a key after an old sign-in',
      isLate: true,
      repeated: 409,
    },
    acting(bob, 'link', 200, { password: PASSWORD }),
  ]
}

/** Visits to a dashboard without accounts. */
export function setupVisits(token: string): Visit[] {
  const fields = { email: EMAILS.signedUp, password: PASSWORD }
  return [
    { ...reading('/setup/:token', `/setup/${token}`), isStranger: true },
    {
      ...posting('/setup/:token', 303, fields, `/setup/${token}`),
      repeated: 404,
      isStranger: true,
      beginsSession: true,
    },
  ]
}

function under(id: string, act: string, fields: Record<string, string> = {}, actPath = act): Visit {
  const path = `/dashboard/organizations/${id}/${actPath}`
  return posting(`/dashboard/organizations/:id/${act}`, 303, fields, path)
}
