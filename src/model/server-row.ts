/** Servers per answer (spec 4.1, 8). */
export const SERVERS_MAX = 100

/** The fields of a new server that nothing else sets. */
export const SERVER_DEFAULTS = { edition: 'java', status: 'published' } as const

/** The columns of a server that an answer uses (spec 2.1). */
export interface ServerRow {
  id: string
  name: string
  slug: string | null
  host_label: string
  edition: string
  status: string
  version: string | null
  listing_kind: string | null
}

/** A server as clients see it: exactly these fields, in this order (spec 2.1). */
export interface Server {
  id: string
  name: string
  slug: string | null
  address: string
  edition: string
  status: string
  version: string | null
  listing_kind: string | null
}

/** Exposes `host_label` as `address` (spec 2.1, rule 1). All other values stay as stored. */
export function toServer(row: ServerRow): Server {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    address: row.host_label,
    edition: row.edition,
    status: row.status,
    version: row.version,
    listing_kind: row.listing_kind,
  }
}

/** The body of a 200 (spec 4.1). Rendered here so that all engines send the same bytes. */
export function renderServers(rows: readonly ServerRow[]): Buffer {
  const text = JSON.stringify({ servers: rows.map(toServer) })
  // A body from the pool of Buffers would keep the whole pool in memory.
  const body = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  body.write(text)
  return body
}
