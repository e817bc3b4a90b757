import { hash } from 'node:crypto'

/*
 * The rows before each case. Their instants are those of SINCE.
 */

/** What a line of the scene says: a kind of row, its name, and what else it has. */
export const SCENE = `
user ada email external issued
user bob email external
user cid email external disabled issued
user dan email external banned
user eve external
user fay email external disabled banned
user gil external
user opa email
user root email
identity ada
identity cid
password cid
change cid
import cid
session ada
session gil lent
link ada
organization red Red
organization blue Blue
organization green Green
organization gold Gold
organization pink Pink
member red ada owner
member red bob member
member blue ada owner
member green opa owner
member green bob member
member gold dan owner
member pink eve owner
member pink opa member
server one ada
server two ada red
server three bob
server four bob red
server five cid
server six dan
server seven bob gold
server nine opa
key a ada
key b ada
key old ada revoked
key h bob
key c cid
key d dan
key e1 eve
key e2 eve
key e3 eve
key e4 eve
key e5 eve
key f fay
key o opa
listed gone
listed gone2`

/** OPERATORS: one of them has an account. */
export const OPERATORS = ['root@example.com', 'boss@example.com']

const SINCE = '2020-01-01T00:00:00Z'
const LATER = '2020-02-01T00:00:00Z'

/** The whole key of this name. */
export const keyOf = (name: string): string => `svc_live_${name}`
export const hashOf = (name: string): string => hash('sha256', keyOf(name))

/** The id of the record with this name. */
export function idOf(name: string): string {
  const digits = hash('sha256', name)
  return `${digits.slice(0, 8)}-0000-4000-8000-${digits.slice(8, 20)}`
}

/** How an engine writes values. */
export interface Literals {
  bytes(hex: string): string
  instant(iso: string): string
}

/** The statement that inserts the row of a line. */
function insertOf(line: string, { bytes, instant }: Literals): string {
  const [kind, name = '', ...words] = line.split(' ')
  const id = `'${idOf(name)}'`
  const since = instant(SINCE)
  const [first = '', second] = words
  const of = `'${idOf(first)}'`
  const when = (word: string, iso = LATER) => (words.includes(word) ? instant(iso) : 'NULL')
  const text = (word: string, value: string) => (words.includes(word) ? `'${value}'` : 'NULL')
  const own = `'${idOf(`${kind} ${name}`)}', ${id}`
  const end = instant('2100-01-01T00:00:00Z')
  switch (kind) {
    case 'user':
      return `INSERT INTO users (id, email, external_id, created_at, disabled_at, banned_at, email_issuer)
        VALUES (${id}, ${text('email', `${name}@example.com`)}, ${text('external', name)}, ${since},
        ${when('disabled')}, ${when('banned')}, ${text('issued', 'https://login.example.com')})`
    case 'identity':
      return `INSERT INTO identities (issuer, subject, user_id)
        VALUES ('https://login.example.com', '${name}', ${id})`
    case 'password':
      return `INSERT INTO passwords (user_id, hash) VALUES (${id}, '${name}')`
    case 'change':
      return `INSERT INTO server_changes (id, user_id, changed_at, action, servers, listing)
        VALUES (${own}, ${since}, 'added', '${name}', '[]')`
    case 'import':
      return `INSERT INTO checked_imports (id, user_id, checked_at, entries)
        VALUES (${own}, ${since}, '[]')`
    case 'session':
      return `INSERT INTO sessions
        (id, user_id, token_hash, address, user_agent, started_at, last_active_at, expires_at,
          operator_until)
        VALUES (${own}, '${name}', '', '', ${since}, ${since}, ${end},
          ${words.includes('lent') ? end : 'NULL'})`
    case 'link':
      return `INSERT INTO sign_in_links (user_id, token_hash, expires_at)
        VALUES (${id}, '${name}', ${end})`
    case 'organization':
      return `INSERT INTO organizations (id, slug, name) VALUES (${id}, '${name}', '${first}')`
    case 'member':
      return `INSERT INTO members (organization_id, user_id, role, joined_at)
        VALUES (${id}, ${of}, '${second}', ${since})`
    case 'server':
      return `INSERT INTO servers (id, created_by, organization_id, name, slug, host_label, version,
        listing_kind, updated_at) VALUES (${id}, ${of},
        ${second === undefined ? 'NULL' : `'${idOf(second)}'`}, '${name}', '${name}',
        '${name}.example.com', '1.21', 'realm', ${since})`
    case 'key':
      return `INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, revoked_at)
        VALUES (${id}, ${of}, '${name}', 'svc_live_site', ${bytes(hashOf(name))}, ${since},
        ${when('revoked')})`
    default:
      return `INSERT INTO revoked_hashes (key_hash, revoked_at)
        VALUES (${bytes(hashOf(name))}, ${since})`
  }
}

export function sceneIn(literals: Literals): string {
  const lines = SCENE.trim().split('\n')
  return `BEGIN; ${lines.map((line) => insertOf(line, literals)).join(';\n')}; COMMIT`
}

/** The keys that a case can ask with: those of the scene and new ones. */
export const KEYS = [...SCENE.matchAll(/^key (\w+)/gm)]
  .map(([, name]) => name!)
  .concat('n', 'm', '1', '2', '3', '4', 'gone')
