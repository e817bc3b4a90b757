import { InvalidAnswerError } from './errors.ts'

/** One game server of the listing (spec 2.1). */
export interface Server {
  /** A UUID. */
  readonly id: string
  readonly name: string
  /** The name in web addresses; null if the server has none. */
  readonly slug: string | null
  /** Where to connect: a domain or IP address, optionally with `:port`. */
  readonly address: string
  /** For example `java` or `bedrock`; other values are possible. */
  readonly edition: string
  /** For example `published` or `draft`; other values are possible. */
  readonly status: string
  /** The game version; null if unknown. */
  readonly version: string | null
  /** For example `server` or `realm`; null if unknown. */
  readonly listing_kind: string | null
}

/** Each field, and whether it may be null. */
const FIELDS = [
  ['id', false],
  ['name', false],
  ['slug', true],
  ['address', false],
  ['edition', false],
  ['status', false],
  ['version', true],
  ['listing_kind', true],
] as const satisfies [keyof Server, boolean][]

/**
 * Reads the body of a 200. Each server must have the eight fields with their types. Other fields,
 * which a later version of the API may add, are left out. Throws InvalidAnswerError.
 */
export function parseListing(text: string, url: string): readonly Server[] {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw invalid(url, 'the body is not JSON')
  }
  const servers = isObject(body) ? body.servers : undefined
  if (!Array.isArray(servers)) throw invalid(url, 'the body has no array "servers"')
  return Object.freeze(servers.map((each, index) => parseServer(each, `servers[${index}]`, url)))
}

export function invalid(url: string, problem: string): InvalidAnswerError {
  return new InvalidAnswerError(
    `GET ${url} answered 200, but ${problem}. Check that baseUrl is the address of the API.`,
    { status: 200 },
  )
}

function parseServer(value: unknown, place: string, url: string): Server {
  if (!isObject(value)) throw invalid(url, `${place} is not an object`)
  const entries = FIELDS.map(([name, isNullable]) => {
    const field = value[name]
    if (typeof field !== 'string' && !(isNullable && field === null))
      throw invalid(url, `${place}.${name} is not a string${isNullable ? ' or null' : ''}`)
    return [name, field]
  })
  return Object.freeze(Object.fromEntries(entries) as Server)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
