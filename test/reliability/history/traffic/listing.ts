import { SERVERS_MAX } from '../../../../src/model/server-row.ts'
import type { ServerEntry } from '../../../../src/servers/server-entry.ts'

/** An owner's list in one of its states. Each server names its owner, state and place. */
export function listInState(owner: string, state: number, size: number): ServerEntry[] {
  return Array.from({ length: size }, (_, place) => ({
    name: nameOf(owner, state, place),
    address: `s${place}.${owner}.example.com`,
    // Without a slug, an import never renames a server.
    slug: `s${place}`,
    // The newest server has the first place.
    updated_at: 1_800_000_000_000_000 + state * 1_000_000 - place,
  }))
}

/**
 * Returns the state that the body of a 200 shows, as `v` and its number, or what is wrong with it.
 */
export function stateShown(body: string, owner: string, size: number): string {
  const { servers } = JSON.parse(body) as { servers: { name: string }[] }
  const state = Number(servers[0]?.name.split(' ')[1])
  const wanted = Math.min(size, SERVERS_MAX)
  if (servers.length !== wanted) return `${servers.length} servers instead of ${wanted}`
  for (const [place, { name }] of servers.entries())
    if (name !== nameOf(owner, state, place)) return `${name} at place ${place}`
  return `v${state}`
}

function nameOf(owner: string, state: number, place: number): string {
  return `${owner} ${state} ${place}`
}
