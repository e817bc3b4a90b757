/*
 * The service as sections 3, 4.1, 5 and 8 of the specification define it, and no more: its state
 * and what follows from it. Each function changes the model and returns the expected answer.
 */

/** Instants and their differences are microseconds, as in the program. */
export interface Model {
  now: number
  keys: ModelKey[]
  servers: ModelServer[]
}

export interface ModelKey {
  key: string
  id: string
  owner: string
  name: string
  revokedAt: number | null
  lastUsedAt: number | null
}

export interface ModelServer extends ModelFields {
  id: string
  owner: string
  updatedAt: number
}

/** The fields that an owner sets. */
export interface ModelFields {
  name: string
  slug: string | null
  address: string
  edition: string
  status: string
  version: string | null
  listing_kind: string | null
  /** Null for a personal server. */
  organization_id: string | null
}

export interface Answer {
  status: number
  body: string
}

const UNAUTHORIZED = { status: 401, body: '{"error":"Invalid or missing API key."}' }
const LIMITED = { status: 429, body: '{"error":"Rate limit exceeded","limit":"1 rps"}' }

/** Spec 5.2: a request with this Authorization value. */
export function ask(model: Model, authorization: string | null): Answer {
  const [, text] = /^bearer (svc_live_.*)$/is.exec(authorization ?? '') ?? []
  const known = model.keys.find(({ key }) => key === text)
  if (known === undefined || known.revokedAt !== null) return UNAUTHORIZED
  if (known.lastUsedAt !== null && model.now - known.lastUsedAt < 1_000_000) return LIMITED
  known.lastUsedAt = model.now
  return { status: 200, body: JSON.stringify({ servers: listing(model, known.owner) }) }
}

/** Spec 4.1: the owner's personal servers, at most 100, newest first, ties by larger id. */
function listing(model: Model, owner: string): object[] {
  return model.servers
    .filter((server) => server.owner === owner && server.organization_id === null)
    .toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
    .slice(0, 100)
    .map(({ id, name, slug, address, edition, status, version, listing_kind }) => {
      return { id, name, slug, address, edition, status, version, listing_kind }
    })
}

/** Spec 5.3: the reason why the owner can't get a key of this name; null if there is none. */
export function refusalOf(model: Model, owner: string, name: string): 'name' | 'at limit' | null {
  if (name.length < 1 || name.length > 64) return 'name'
  return keysOf(model, owner).filter(({ revokedAt }) => revokedAt === null).length >= 5
    ? 'at limit'
    : null
}

export function keysOf(model: Model, owner: string): ModelKey[] {
  return model.keys.filter((key) => key.owner === owner)
}

/** Spec 3.2: the instant of the key's first revocation; null if the owner has no such key. */
export function revoke(model: Model, owner: string, id: string): number | null {
  const found = keysOf(model, owner).find((key) => key.id === id)
  if (found === undefined) return null
  found.revokedAt ??= model.now
  return found.revokedAt
}

export type Written = 'written' | 'slug taken' | 'not found'

/** Registers a server. Only a member can put it under an organization. */
export function register(
  model: Model,
  owner: string,
  id: string,
  fields: ModelFields,
  isMember: boolean,
): Written {
  const refused = refusalOfPlace(model, owner, id, fields, isMember)
  if (refused === null) model.servers.push({ ...fields, id, owner, updatedAt: model.now })
  return refused ?? 'written'
}

/** Changes and moves a server of the owner. */
export function edit(
  model: Model,
  owner: string,
  id: string,
  fields: ModelFields,
  isMember: boolean,
): Written {
  const found = find(model, owner, id)
  if (found === undefined) return 'not found'
  const refused = refusalOfPlace(model, owner, id, fields, isMember)
  if (refused === null) Object.assign(found, fields, { updatedAt: model.now })
  return refused ?? 'written'
}

function refusalOfPlace(
  model: Model,
  owner: string,
  id: string,
  { slug, organization_id: place }: ModelFields,
  isMember: boolean,
): Exclude<Written, 'written'> | null {
  if (place !== null && !isMember) return 'not found'
  const others = model.servers.filter((server) => server.owner === owner && server.id !== id)
  const isTaken = others.some((other) => other.slug === slug && other.organization_id === place)
  return slug !== null && isTaken ? 'slug taken' : null
}

/** Spec 3.1: any status can follow any other. A server that has the status stays as it is. */
export function setStatus(model: Model, owner: string, id: string, status: string): boolean {
  const found = find(model, owner, id)
  if (found === undefined) return false
  if (found.status !== status) Object.assign(found, { status, updatedAt: model.now })
  return true
}

export function remove(model: Model, owner: string, id: string): boolean {
  const found = find(model, owner, id)
  model.servers = model.servers.filter((server) => server !== found)
  return found !== undefined
}

function find(model: Model, owner: string, id: string): ModelServer | undefined {
  return model.servers.find((server) => server.owner === owner && server.id === id)
}
