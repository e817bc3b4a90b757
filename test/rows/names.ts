import { subjectOf } from '../../src/accounts/pages/sign-in/rate-limit.ts'
import type { Row, Tables } from './tables.ts'

/** The names that stand for ids, hashes and tokens, which differ from run to run. */
export interface Names {
  /**
   * The text with names instead of the ids in it, and `?` for those without a name. `<folder>`
   * stands for the folder of the run.
   */
  put(text: string): string
  /** The name of a hash or token, or undefined. */
  of(value: string): string | undefined
  /** Gives a value a name, with a number behind it if another value has it. */
  give(value: string, name: string): string
  /** The id or hash that has this name. */
  find(name: string): string
  /** The ids and hashes by their names. */
  values: ReadonlyMap<string, string>
  /** The same names, to which others can be given. */
  copy(): Names
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** Where the people of the run connect from. */
const ADDRESS = '127.0.0.1'
/** What the dashboard limits per user. */
const LIMITED = ['issue', 'email', 'member']

export function createNames(folder?: string): Names {
  const created = namesIn(folder, new Map())
  created.give(subjectOf('address', ADDRESS), `attempts:${ADDRESS}`)
  created.give(subjectOf('sign-up', ADDRESS), `sign-ups:${ADDRESS}`)
  return created
}

function namesIn(folder: string | undefined, names: Map<string, string>): Names {
  const values = new Map([...names].map(([value, name]) => [name, value]))
  const shortened = (text: string) =>
    folder === undefined ? text : text.replaceAll(folder, '<folder>')
  return {
    values,
    of: (value) => names.get(value),
    put: (text) => shortened(text).replaceAll(ID, (id) => names.get(id) ?? '?'),
    give(value, wanted) {
      const known = names.get(value)
      if (known !== undefined) return known
      let name = wanted
      for (let number = 2; values.has(name); number += 1) name = `${wanted}-${number}`
      names.set(value, name)
      values.set(name, value)
      return name
    },
    find(name) {
      const value = values.get(name)
      if (value === undefined) throw new Error(`nothing has the name ${name}`)
      return value
    },
    copy: () => namesIn(folder, new Map(names)),
  }
}

type NameOf = (row: Row, names: Names) => string

const user: NameOf = ({ user_id }, names) => names.put(String(user_id))

/** How new rows get their names, each table after those that its names mention. */
const NAMED: Record<string, NameOf> = {
  users: ({ email, external_id }) => String(email ?? external_id).replace(/@.*/, ''),
  organizations: ({ slug }) => `org:${slug}`,
  servers: ({ name }) => `server:${name}`.replaceAll(' ', '-'),
  api_keys: ({ name }) => `key:${name}`.replaceAll(' ', '-'),
  sessions: (row, names) => `session:${user(row, names)}`,
  server_changes: () => 'change',
  checked_imports: () => 'import',
}

/**
 * Names the new rows. `order` writes a row without names of its own, so that ids do not decide the
 * order of rows that come together.
 */
export function nameRows(
  names: Names,
  added: Tables,
  order: (table: string, row: Row) => string,
): void {
  for (const [table, nameOf] of Object.entries(NAMED))
    for (const row of sorted(table, added[table] ?? [], order)) {
      const id = String(row.id)
      const name = names.give(id, nameOf(row, names))
      if (table === 'api_keys') names.give(String(row.key_hash), name.replace('key:', 'hash:'))
      const limited = table === 'users' ? LIMITED : []
      for (const action of limited) names.give(subjectOf(action, id), `${action}:${name}`)
      if (table === 'sessions') {
        const subject = subjectOf('session', String(row.user_id), String(row.started_at))
        names.give(subject, `attempts:${name}`)
      }
    }
}

/** Names what the service counts about an address that a person signs in with. */
export function nameAttempts(names: Names, email: string): void {
  names.give(subjectOf('pair', email, ADDRESS), `attempts:${email}+${ADDRESS}`)
  names.give(subjectOf('account', email), `attempts:${email}`)
}

export function sorted(
  table: string,
  rows: readonly Row[],
  order: (table: string, row: Row) => string,
): Row[] {
  return rows
    .map((row) => [order(table, row), row] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)))
    .map(([, row]) => row)
}
