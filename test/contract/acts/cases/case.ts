/**
 * One case of `apply`: a document, and what becomes of the rows of `SITE` and the audit log, or
 * which sentences refuse the document. `@user ada` stands for the id of that record, and `#a` for
 * the hash of that key.
 */
export type Case = {
  name: string
  /** Users and organizations as `documentOf` takes them, and any other act. */
  file: { organizations?: object[]; users?: object[] } & Record<string, unknown>
} & ({ rows: string[]; entries: string[]; plan?: string[] } | { says: string[] })

/**
 * The rows before each case. Ada owns red and blue, and Bob is a member of red. An identity is all
 * that names Dan. What follows a point tells records with one slug apart.
 */
export const SITE = [
  'user ada 1',
  'user bob -',
  'user cid 3 disabled',
  'user dan - identity',
  'organization red Red',
  'organization blue Blue',
  'member red ada owner',
  'member red bob member',
  'member blue ada owner',
  'key ada a',
  'key ada b',
  'key ada old revoked',
  'key bob his',
  'server ada one',
  'server ada two of red',
  'server bob three',
  'server bob four of red',
  'server bob twin.1',
  'server bob twin.2',
]

export const ADA = { email: 'ada@example.com' }
export const BOB = { email: 'bob@example.com' }
export const CID = { email: 'cid@example.com' }

/** After the instant at which cases are applied. */
export const LATER = '2100-01-01T00:00:00Z'

/** The files that a document can name as a `key_file`. */
export const FILES: Record<string, string> = {
  'windows.key': 'svc_live_0123456789abcdefghijklmnopqrstuv\r\n',
  'two.key': 'svc_live_0123456789abcdefghijklmnopqrstuv\nsvc_live_\n',
}

/** A key as the site has it. */
export const key = (name: string) => ({ name, key_hash: `#${name}` })

/** A server as the site has it. */
export const server = (slug: string) => ({ slug, name: slug, address: `${slug}.example.com` })

/** A membership of an organization. */
export const owner = (user: object) => ({ ...user, role: 'owner' })
export const member = (user: object) => ({ ...user, role: 'member' })
