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
    ['/dashboard/servers/preview'],
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
  const { keys, server, organization, emptyOrganization, bob } = scene
  const fields = Object.fromEntries(
    Object.entries(SERVER).map(([name, value]) => [name, value ?? '']),
  )
  const under = `/dashboard/organizations/${organization}`
  const [key, other] = keys as [Scene['keys'][0], Scene['keys'][0]]
  const edited = { ...fields, name: 'Renamed', slug: 'renamed' }
  return [
    posting('/dashboard/servers/new', 303, { ...fields, slug: 'new', form: 'f' }),
    posting('/dashboard/servers/:id', 303, edited, `/dashboard/servers/${server}`),
    {
      ...posting(
        '/dashboard/servers/:id',
        303,
        { ...fields, slug: 'moved', organization_id: organization },
        `/dashboard/servers/${server}`,
      ),
      name: 'moving a server to an organization',
    },
    posting(
      '/dashboard/servers/:id/status',
      303,
      { status: 'draft' },
      `/dashboard/servers/${server}/status`,
    ),
    {
      ...posting('/dashboard/servers/:id/delete', 303, {}, `/dashboard/servers/${server}/delete`),
      repeated: 404,
    },
    { ...posting('/dashboard/api', 200, { name: 'bot', form: 'f' }), repeated: 409 },
    posting('/dashboard/api/:id/delete', 303, {}, `/dashboard/api/${key.id}/delete`),
    {
      ...posting('/dashboard/api/leaked', 200, { leaked: `${key.key} ${other.key}` }),
      isInParts: true,
    },
    {
      ...posting('/dashboard/organizations', 303, { name: 'Red Stone', slug: 'red-stone' }),
      repeated: 422,
    },
    posting(
      '/dashboard/organizations/:id/members',
      303,
      { email: bob.email },
      `/dashboard/organizations/${emptyOrganization}/members`,
    ),
    {
      ...posting(
        '/dashboard/organizations/:id/members/:member/remove',
        303,
        {},
        `${under}/members/${bob.id}/remove`,
      ),
      repeated: 404,
    },
    {
      ...posting(
        '/dashboard/organizations/:id/remove',
        303,
        {},
        `/dashboard/organizations/${emptyOrganization}/remove`,
      ),
      repeated: 404,
    },
    posting('/sign-out', 303),
    { ...posting('/dashboard/account/sessions', 303), repeated: 401 },
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
