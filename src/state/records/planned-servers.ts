import { formatInstant } from '../../model/instant.ts'
import type { RegisteredServer } from '../../servers/server.ts'
import { complaintIn, type DeclaredServer } from '../declared-state.ts'
import { quote } from '../../model/text.ts'
import { createOrderedIds } from '../../database/ordered-ids.ts'
import { addChange, differences, type Planning } from './changes.ts'
import type { Stored } from './stored-state.ts'
import { valuesOf } from '../../servers/fields.ts'
import {
  isChanged,
  type PlacedServer,
  type PlannedServer,
  planServers,
} from '../../servers/plan.ts'

/** How the servers of a user become those that the file declares. */
export function planOwnServers(
  { plan, userId, stored, options: { prune, now } }: Planning,
  declared: readonly DeclaredServer[] | undefined,
  isMember: (slug: string) => boolean,
): void {
  const wanted = declared ?? []
  const own = stored.serversOf(userId)
  const named = wanted.flatMap(({ entry: { id = '' } }) => stored.serversById.get(id) ?? [])
  const present = [...new Set([...own, ...named])].map((server) => placed(server, stored))
  const prunes = prune && declared !== undefined
  const { planned, absent, mistakes } = planServers(present, wanted, {
    userId,
    now,
    prunes,
    declares: true,
    makeId: createOrderedIds(),
    nameOf: (position) => wanted[position]!.place,
  })
  for (const { position, field, message } of mistakes)
    plan.complaints.push(complaintIn(wanted[position]!, field, message))
  for (const one of planned) {
    const { position, before, after } = one
    const { organization } = after
    if (organization !== null && organization !== before?.organization && !isMember(organization))
      plan.complaints.push(
        complaintIn(
          wanted[position]!,
          'organization',
          `must have the user as a member: ${quote(organization)}`,
        ),
      )
    else if (isChanged(before, after)) addChange(plan, 'server', before, after, tellChange(one))
  }
  for (const server of prunes ? absent : []) addChange(plan, 'server', server, null, tell(server))
}

function placed(server: RegisteredServer, { slugOf }: Stored): PlacedServer {
  const { organization_id, ...others } = server
  return { ...others, organization: slugOf(organization_id) }
}

const nameOf = (row: PlacedServer): string => `${quote(row.name)} (${row.address})`

const tell = (row: PlacedServer): string =>
  `${nameOf(row)}${row.organization === null ? '' : ` of ${row.organization}`}`

/** An instant that the file lacks is no change. */
function tellChange({ before, after, isDated }: PlannedServer): string {
  if (before === null) return tell(after)
  const told = differences(valuesOf(before), valuesOf(after))
  if (isDated)
    told.push(
      ...differences(
        { updated_at: formatInstant(before.updated_at) },
        { updated_at: formatInstant(after.updated_at) },
      ),
    )
  if (after.organization !== before.organization)
    told.push(`${before.organization ?? 'personal'} → ${after.organization ?? 'personal'}`)
  return `${nameOf(before)}: ${told.join(', ')}`
}
