import type { Fields } from '../fixtures/person.ts'
import type { ProgramRoute } from '../dashboard/every-route.ts'
import type { Act } from './act.ts'

/*
 * The scripted life of a small site, on an empty database. Eve is the operator. Every page, form
 * and command has an act here.
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
const run = (command: string, stdin = ''): Act => ({ command, stdin })
/** On a second database. */
const aside = (command: string, stdin = ''): Act => ({ command, stdin, isAside: true })

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
]

const ORGANIZATIONS: Act[] = [
  post('ada', '/dashboard/organizations', { form: 'o1', name: 'Guild', slug: 'guild' }),
  post('ada', '/dashboard/servers/change', {
    to: 'moved for sure',
    rows: '<server:Survival>',
    move: '<org:guild>',
  }),
  post('ada', '/dashboard/servers/undo', { change: '<change-4>' }),
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

const USER_COMMANDS: Act[] = [
  post('gil', '/sign-up', { email: 'gil@example.com', password: '<password>' }),
  post('gil', '/dashboard/api', { form: 'k4', name: 'short' }),
  post('gil', '/dashboard/account/delete', { confirmation: 'gil@example.com' }),
  run('user add cem@example.com --external-id 4711'),
  run('user add dan@example.com --password-stdin', OTHER_PASSWORD),
  run('user link cem@example.com'),
  { by: 'cem', get: '/link/<token>' },
  post('cem', '/link/<token>', { password: '<password>' }),
  run('user password dan@example.com', '<password>'),
  post('dan', '/sign-in', { email: 'dan@example.com', password: '<password>' }),
  run('user link dan@example.com'),
  run('key issue --user dan@example.com --name mine'),
  run('user disable dan@example.com'),
  run('user enable dan@example.com'),
  run('user email dan@example.com dan@example.net'),
  run('user list'),
]

const KEY_COMMANDS: Act[] = [
  run('key issue --user ada@example.net --name second'),
  run('key rename --user ada@example.net --name other <key:second>'),
  run('key revoke --user ada@example.net <key:second>'),
  run(
    'key import --user bob@example.com --hash-file -',
    `[{"name":"old","key_hash":"${hashOf(1)}","created_at":"2020-01-01T00:00:00Z","last_used_at":"2020-02-01T00:00:00Z"}]`,
  ),
  run('key issue --user dan@example.net --name pasted'),
  run('key revoke --key-stdin', 'in a log: <secret:pasted>'),
  run('key list'),
]

const SERVER_COMMANDS: Act[] = [
  run('server import --user bob@example.com -', CSV),
  run(
    'server import --user bob@example.com --organization blue -',
    '[{"name":"Blue","address":"blue.example.com","updated_at":"2020-03-01T00:00:00Z"}]',
  ),
  run(
    'server import --user bob@example.com --prune-all --yes -',
    '[{"name":"Imported","address":"moved.example.com","slug":"imported"}]',
  ),
  run('server remove --user bob@example.com <server:Blue> --yes'),
  run('server list'),
  run('organization list'),
]

const STATE_COMMANDS: Act[] = [
  run(
    'apply - --yes',
    JSON.stringify({
      format_version: 1,
      organizations: [
        {
          slug: 'red',
          name: 'Red',
          members: [
            { email: 'fay@example.com', role: 'owner' },
            { email: 'cem@example.com', role: 'member' },
          ],
        },
      ],
      users: [
        {
          email: 'fay@example.com',
          keys: [2, 3].map((number) => ({ name: `fay ${number}`, key_hash: hashOf(number) })),
          servers: [
            { name: 'Red', slug: 'red', address: 'red.example.com', organization: 'red' },
            { name: 'Own', slug: 'own', address: 'own.example.com' },
          ],
        },
        { external_id: '4711', email: 'cem@example.com' },
      ],
    }),
  ),
  run(
    'apply - --prune --yes',
    JSON.stringify({
      format_version: 1,
      organizations: [
        {
          slug: 'red',
          name: 'Red Stone',
          members: [
            { email: 'cem@example.net', role: 'owner' },
            { email: 'gus@example.com', role: 'member' },
          ],
        },
      ],
      users: [
        {
          external_id: '5000',
          email: 'fay@example.com',
          keys: [{ name: 'renamed', key_hash: hashOf(2) }],
          servers: [{ name: 'Own', slug: 'own', address: 'moved.example.com' }],
        },
        { external_id: '4711', email: 'cem@example.net' },
        { email: 'gus@example.com' },
      ],
    }),
  ),
  run('export'),
  run('audit list'),
  run('config'),
  // It finds fault with a test server, which synchronizes nothing to the disk.
  { command: 'doctor', stdin: '', mayFail: true },
]

const RESTORES: Act[] = [
  { service: 'ends' },
  { service: 'starts' },
  // Dan's, and not Ada's: whether a removed key's use is kept depends on its age in seconds.
  { claim: '<secret:mine>' },
  { claim: '<secret:pasted>' },
  { service: 'ends' },
  { sql: `INSERT INTO identities VALUES ('https://id.example.com', 'bob', '<bob>')` },
  run('user identities --issuer https://id.example.com --to https://new.example.com'),
  run('backup <folder>/archive'),
  run('user disable cem@example.net'),
  run('key issue --user bob@example.com --name young'),
  run('key revoke --user bob@example.com <key:old>'),
  run('user remove ada@example.net --yes'),
  run('restore <folder>/archive --yes'),
  run(
    'key import --user fay@example.com --hash-file -',
    `[{"name":"listed","key_hash":"${hashOf(4)}"}]`,
  ),
  aside('user add ada@example.com --create'),
  aside(
    'key import --user ada@example.com --hash-file -',
    `[{"name":"listed","key_hash":"${hashOf(4)}","revoked_at":"2020-04-01T00:00:00Z"}]`,
  ),
  run('restore --revocations <folder>/aside.db --yes'),
  run('user remove bob@example.com --yes'),
]

export const ACTS: Act[] = [
  run('migrate'),
  ...ACCOUNTS,
  ...OPERATOR,
  ...KEYS,
  ...SERVERS,
  ...ORGANIZATIONS,
  ...USER_COMMANDS,
  ...KEY_COMMANDS,
  ...SERVER_COMMANDS,
  ...STATE_COMMANDS,
  { by: 'ada', reads: pageOfAda },
  { by: 'eve', reads: pageOfOperator },
  ...RESTORES,
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

function hashOf(number: number): string {
  return String(number).repeat(64)
}
