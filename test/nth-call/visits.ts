import { PASSWORD } from '../fixtures/dashboard.ts'
import type { Person } from '../fixtures/person.ts'
import type { Answer } from '../fixtures/requests.ts'
import { type Scene, SERVER } from './dashboard-scene.ts'

/** A visit to one of the dashboard's routes. */
export interface Visit {
  name: string
  /** The route as the program writes it. */
  route: string
  status: number
  /** What a second time may be answered, once the first was done. */
  repeated?: number
  isInParts?: boolean
  /** Whether a session begins with it, should that be possible. */
  beginsSession?: boolean
  /** By whom; by nobody who is signed in, if not by Ada. */
  visit(person: Person): Promise<Answer>
  isStranger?: boolean
  /** In a session that began a while ago. */
  isLate?: boolean
}

const NEW_PASSWORD = 'another battery of horses'

export function readingVisits({ keys, server, organization }: Scene): Visit[] {
  const pages: [route: string, path?: string][] = [
    ['/dashboard/api'],
    ['/dashboard/api/:id/delete', `/dashboard/api/${keys[0]!.id}/delete`],
    ['/dashboard/servers'],
    ['/dashboard/servers/new'],
    ['/dashboard/servers/preview.json'],
    ['/dashboard/servers/:id', `/dashboard/servers/${server}`],
    ['/dashboard/servers/:id/delete', `/dashboard/servers/${server}/delete`],
    ['/dashboard/organizations'],
    ['/dashboard/organizations/:id', `/dashboard/organizations/${organization}`],
    ['/dashboard/account'],
  ]
  const redirects: [route: string, path?: string][] = [['/'], ['/dashboard'], ['/sign-in']]
  return [
    ...pages.map(([route, path]) => reading(route, path, 200)),
    ...redirects.map(([route, path]) => reading(route, path, 303)),
    { ...reading('/sign-up', '/sign-up', 200), isStranger: true },
  ]
}

function reading(route: string, path = route, status = 200): Visit {
  return { name: `GET ${route}`, route: `get ${route}`, status, visit: (ada) => ada.get(path) }
}

/** Visits that change something, and work no password. */
export function changingVisits(scene: Scene): Visit[] {
  return [...serverVisits(scene), ...keyVisits(scene), ...organizationVisits(scene)]
}

function serverVisits({ server, organization }: Scene): Visit[] {
  const fields = Object.fromEntries(
    Object.entries(SERVER).map(([name, value]) => [name, value ?? '']),
  )
  const edited = { ...fields, name: 'Renamed', slug: 'renamed' }
  const moved = { ...fields, slug: 'moved', organization_id: organization }
  const path = `/dashboard/servers/${server}`
  return [
    posting('/dashboard/servers/new', 303, { ...fields, slug: 'new', form: 'f' }),
    posting('/dashboard/servers/:id', 303, edited, path),
    { ...posting('/dashboard/servers/:id', 303, moved, path), name: 'moving a server' },
    posting('/dashboard/servers/status', 303, { draft: server }),
    { ...posting('/dashboard/servers/:id/delete', 303, {}, `${path}/delete`), repeated: 404 },
  ]
}

function keyVisits({ keys }: Scene): Visit[] {
  const leaked = keys.map(({ key }) => key).join(' ')
  return [
    { ...posting('/dashboard/api', 200, { name: 'bot', form: 'f' }), repeated: 409 },
    posting('/dashboard/api/:id/delete', 303, {}, `/dashboard/api/${keys[0]!.id}/delete`),
    { ...posting('/dashboard/api/leaked', 200, { leaked }), isInParts: true },
    posting('/sign-out', 303),
    { ...posting('/dashboard/account/sessions', 303), repeated: 401 },
  ]
}

function organizationVisits(scene: Scene): Visit[] {
  const { organization, emptyOrganization, otherOrganization, bob, invitation } = scene
  const under = (id: string, act: string, fields: Record<string, string> = {}) =>
    posting(
      `/dashboard/organizations/:id/${act}`,
      303,
      fields,
      `/dashboard/organizations/${id}/${act}`,
    )
  return [
    {
      ...posting('/dashboard/organizations', 303, { name: 'Red Stone', slug: 'red-stone' }),
      repeated: 422,
    },
    under(organization, 'members', { email: 'eve@example.com' }),
    { ...under(organization, 'members/withdraw', { invited: invitation }), repeated: 404 },
    { ...under(organization, 'members/remove', { member: bob.id }), repeated: 404 },
    under(organization, 'give-back'),
    { ...under(otherOrganization, 'accept'), repeated: 404 },
    { ...under(otherOrganization, 'decline'), repeated: 404 },
    { ...under(emptyOrganization, 'remove'), repeated: 404 },
  ]
}

/** Visits in which a password is worked on, which takes a while. */
export function passwordVisits({ user }: Scene): Visit[] {
  const signIn = { email: user.email, password: PASSWORD }
  return [
    { ...posting('/sign-in', 303, signIn), isStranger: true, beginsSession: true },
    {
      ...posting('/sign-in', 401, { ...signIn, password: NEW_PASSWORD }),
      name: 'a wrong password',
      isStranger: true,
    },
    {
      ...posting('/sign-up', 303, { email: 'new@example.com', password: PASSWORD }),
      repeated: 422,
      isStranger: true,
      beginsSession: true,
    },
    {
      ...posting('/dashboard/account/email', 303, {
        email: 'lovelace@example.com',
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
      name: 'a key for who signed in long ago',
      isLate: true,
      repeated: 409,
    },
  ]
}

/** Visits to a dashboard that nobody has an account at. */
export function setupVisits(token: string): Visit[] {
  const fields = { email: 'new@example.com', password: PASSWORD }
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

function posting(
  route: string,
  status: number,
  fields: Record<string, string> = {},
  path = route,
): Visit {
  return {
    name: `POST ${route}`,
    route: `post ${route}`,
    status,
    visit: (person) => person.post(path, fields),
  }
}
