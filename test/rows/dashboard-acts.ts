import type { Fields } from '../fixtures/person.ts'
import type { ProgramRoute } from '../dashboard/every-route.ts'
import type { Act } from './act.ts'

/*
 * The scripted life of a small site at the dashboard, on an empty database. Eve is the operator.
 * Every page and form has an act here.
 */

const SIGN_IN = { email: 'ada@example.com', password: '<password>' }
const OTHER_PASSWORD = 'another long password'
const SERVER = { name: 'Survival', address: 'play.example.com', edition: 'java', status: 'draft' }
const CSV =
  'name,address,slug\nImported,import.example.com,imported\nLobby,lobby.example.com,lobby\n'
/** Changes a server and adds one. The user takes it back. */
const WRONG =
  'name,address,slug,version\nCreative,play.example.com,creative,2\nExtra,x.example.com,x,\n'
const GUILD = '/dashboard/organizations/<org:guild>'

const post = (by: string, path: string, fields: Fields = {}): Act => ({ by, post: path, fields })
const run = (command: string): Act => ({ command, stdin: '' })

const ACCOUNTS: Act[] = [
  { service: 'starts' },
  { by: 'eve', get: '/setup/<token>' },
  post('eve', '/setup/<token>', { email: 'eve@example.com', password: '<password>' }),
  post('ada', '/sign-up', SIGN_IN),
  post('bob', '/sign-up', { email: 'bob@example.com', password: '<password>' }),
  post('ada', '/sign-out'),
  post('ada', '/sign-in', { ...SIGN_IN, password: 'wrong' }),
  post('ada', '/sign-in', SIGN_IN),
  post('ada-2', '/sign-in', SIGN_IN),
  post('ada', '/dashboard/account/sessions', { session: '<session:ada-3>' }),
  post('ada', '/dashboard/account/sessions', { session: '<session:ada-2>' }),
  post('ada', '/sign-in', SIGN_IN),
  post('ada', '/dashboard/account/sessions'),
  post('ada', '/sign-in', SIGN_IN),
  post('ada', '/dashboard/account/password', {
    password: '<password>',
    'new-password': OTHER_PASSWORD,
  }),
  post('ada', '/dashboard/account/email', {
    password: OTHER_PASSWORD,
    email: 'ada@example.net',
  }),
  post('ada', '/dashboard/account/email', { password: 'wrong', email: 'ada@example.org' }),
]

const USER = '/dashboard/operator/users/<bob>'
const CONFIRMED = { password: '<password>' }

const OPERATOR: Act[] = [
  { by: 'eve', get: `${USER}/link` },
  post('eve', `${USER}/link`, CONFIRMED),
  { by: 'eve', get: `${USER}/disable` },
  post('eve', `${USER}/disable`, CONFIRMED),
  { by: 'eve', get: `${USER}/enable` },
  post('eve', `${USER}/enable`, CONFIRMED),
  post('bob', '/sign-in', { email: 'bob@example.com', password: '<password>' }),
  { by: 'eve', get: `${USER}/sign-out` },
  post('eve', `${USER}/sign-out`, CONFIRMED),
  post('bob', '/sign-in', { email: 'bob@example.com', password: '<password>' }),
]

const KEYS: Act[] = [
  post('ada', '/dashboard/api', { form: 'k1', name: 'bot' }),
  post('ada', '/dashboard/api', { form: 'k2', name: 'spare' }),
  post('ada', '/dashboard/api', { form: 'k3', name: 'leaked' }),
  post('ada', '/dashboard/api/<key:bot>', { name: ' Discord bot ', was: 'bot' }),
  post('ada', '/dashboard/api/<key:bot>', { name: 'bot', was: 'Discord bot' }),
  post('ada', '/dashboard/api/<key:spare>/delete'),
  post('ada', '/dashboard/api/leaked', { leaked: 'in a log: <secret:leaked>' }),
]

const SERVERS: Act[] = [
  post('ada', '/dashboard/servers/new', { ...SERVER, form: 's1' }),
  post('ada', '/dashboard/servers/<server:Survival>', { ...SERVER, version: '1.21' }),
  post('ada', '/dashboard/servers/new', { ...SERVER, form: 's2', name: 'Creative' }),
  post('ada', '/dashboard/servers/change', { published: '0', rows: '<server:Survival>' }),
  post('ada', '/dashboard/servers/undo', { change: '<change-2>' }),
  post('ada', '/dashboard/servers/change', {
    to: 'deleted for sure',
    rows: '<server:Survival>.<server:Creative>',
  }),
  post('ada', '/dashboard/servers/undo', { change: '<change-3>' }),
  { by: 'ada', post: '/dashboard/servers/import', fields: { form: 'i1', text: '' }, file: WRONG },
  { by: 'ada', get: '/dashboard/servers/import/<import>' },
  post('ada', '/dashboard/servers/import/<import>', { plan: '<plan>' }),
  post('ada', '/dashboard/servers/undo', { change: '<import>' }),
  { by: 'ada', post: '/dashboard/servers/import', fields: { form: 'i2', text: '' }, file: CSV },
  { by: 'ada', get: '/dashboard/servers/import/<import-2>' },
  post('ada', '/dashboard/servers/import/<import-2>', { plan: '<plan>' }),
  post('ada', '/dashboard/servers/change', { published: '0', rows: '<server:Survival>' }),
  post('ada', '/dashboard/servers/change', { draft: '0', rows: '<server:Survival>' }),
]

const ORGANIZATIONS: Act[] = [
  post('ada', '/dashboard/organizations', { form: 'o1', name: 'Guild', slug: 'guild' }),
  post('ada', '/dashboard/servers/change', {
    to: 'moved for sure',
    rows: '<server:Survival>',
    move: '<org:guild>',
  }),
  post('ada', '/dashboard/servers/undo', { change: '<change-6>' }),
  post('ada', `${GUILD}/members`, { email: 'bob@example.com' }),
  { by: 'ada', get: `${GUILD}/members/<invitation:bob>/withdraw` },
  post('ada', `${GUILD}/members/<invitation:bob>/withdraw`),
  post('ada', `${GUILD}/members`, { email: 'bob@example.com' }),
  { by: 'bob', get: `${GUILD}/decline` },
  post('bob', `${GUILD}/decline`),
  post('ada', `${GUILD}/members`, { email: 'bob@example.com' }),
  post('bob', `${GUILD}/accept`),
  post('bob', '/dashboard/servers/new', {
    ...SERVER,
    form: 's3',
    name: 'Shared',
    organization_id: '<org:guild>',
  }),
  { by: 'ada', get: `${GUILD}/members/<bob>/remove` },
  post('ada', `${GUILD}/members/<bob>/remove`),
  post('ada', `${GUILD}/return`),
  post('bob', '/dashboard/organizations', { form: 'o2', name: 'Short', slug: 'short' }),
  { by: 'bob', get: '/dashboard/organizations/<org:short>/remove' },
  post('bob', '/dashboard/organizations/<org:short>/remove'),
]

const REMOVED: Act[] = [
  post('gil', '/sign-up', { email: 'gil@example.com', password: '<password>' }),
  post('gil', '/dashboard/api', { form: 'k4', name: 'short' }),
  post('gil', '/dashboard/account/delete', { confirmation: 'gil@example.com' }),
]

const LINKS: Act[] = [
  run('user add cem@example.com'),
  run('user link cem@example.com'),
  { by: 'cem', get: '/link/<token>' },
  post('cem', '/link/<token>', { password: '<password>' }),
]

export const DASHBOARD_ACTS: Act[] = [
  run('migrate'),
  ...ACCOUNTS,
  ...OPERATOR,
  ...KEYS,
  ...SERVERS,
  ...ORGANIZATIONS,
  ...REMOVED,
  ...LINKS,
  { by: 'ada', reads: pageOfAda },
  { by: 'eve', reads: pageOfOperator },
]

/** The path of a page that Ada may read, or null for the others. */
function pageOfAda({ path }: ProgramRoute): string | null {
  const ids = { api: '<key:bot>', servers: '<server:Survival>', organizations: '<org:guild>' }
  if (path.startsWith('/dashboard/operator') || path.endsWith('/:token')) return null
  // These ask before an act, and have an act of their own.
  if (/\/(decline|remove|withdraw)$/.test(path)) return null
  if (path === '/servers/:id') return '/servers/<server:Imported>'
  if (path === '/dashboard/docs/*') return '/dashboard/docs/guide'
  if (path === '/dashboard/servers/import/:id') return path.replace(':id', '<import>')
  const room = path.split('/')[2] as keyof typeof ids
  return path.replace(':id', ids[room])
}

/** The pages that ask before an act have acts of their own. */
function pageOfOperator({ path }: ProgramRoute): string | null {
  const isAsking = path.includes('/:id/')
  return path.startsWith('/dashboard/operator') && !isAsking ? path.replace(':id', '<ada>') : null
}
