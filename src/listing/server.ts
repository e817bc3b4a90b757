/** At most this many servers are in one answer (spec 4.1, 8). */
export const SERVERS_MAX = 100

/** A server as the store has it: the columns that an answer is made from (spec 2.1). */
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

/** A server as the caller sees it: exactly these fields, in this order (spec 2.1). */
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

/** The internal `host_label` is exposed as `address` (spec 2.1, rule 1); every other value passes through as stored. */
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

/**
 * The body of a 200 (spec 4.1), rendered here for all engines, so that each of them sends the same bytes. It lives
 * outside of the collected heap, which grows by a multiple of what lives in it.
 */
export function renderServers(rows: readonly ServerRow[]): Buffer {
  const json = JSON.stringify({ servers: rows.map(toServer) })
  const body = Buffer.allocUnsafeSlow(Buffer.byteLength(json))
  body.write(json)
  return body
}
