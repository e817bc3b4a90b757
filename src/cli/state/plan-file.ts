import {
  type DeclaredRecord,
  type DeclaredState,
  isOrganization,
} from '../../listing/state/declared-state.ts'
import type { ReadState } from '../../listing/state/read-state.ts'
import type { RecordPlan, StateOptions, StateStore } from '../../listing/state/state-store.ts'
import { refusal } from './read-file.ts'

/** Keys, servers, memberships and records that are planned together. */
const ROWS_PLANNED = 1_000

/**
 * Plans a state without mistakes, a part at a time. Else one error has those of the file and of the
 * database.
 */
export async function planFile(
  store: StateStore,
  file: string,
  { state, complaints }: ReadState,
  given: Omit<StateOptions, 'organizations'>,
): Promise<{ plans: RecordPlan[]; options: StateOptions }> {
  if (state === null) throw refusal(file, complaints)
  const organizations = new Map(state.organizations.map((one) => [one.slug, one]))
  const options = { ...given, organizations }
  const all = [...complaints]
  const plans: RecordPlan[] = []
  const places = new Map<string, string>()
  for (const part of partsOf(state))
    for (const plan of await store.planState(part, options)) {
      plans.push(plan)
      for (const complaint of plan.complaints) all.push(complaint)
      const { userId, record } = plan
      const earlier = places.get(userId ?? '')
      if (earlier !== undefined)
        all.push({ place: record.place, message: `means the same user as ${earlier}` })
      else if (userId !== null) places.set(userId, record.place)
    }
  if (all.length > 0) throw refusal(file, all)
  return { plans, options }
}

function* partsOf({ organizations, users }: DeclaredState): Generator<DeclaredRecord[]> {
  let part: DeclaredRecord[] = []
  let rows = 0
  for (const records of [organizations, users])
    for (const record of records) {
      part.push(record)
      rows += rowsOf(record)
      if (rows < ROWS_PLANNED) continue
      yield part
      part = []
      rows = 0
    }
  yield part
}

/** How many rows a record has in the database. */
export function rowsOf(record: DeclaredRecord): number {
  if (isOrganization(record)) return 1
  const { keys = [], servers = [], memberships } = record
  return 1 + keys.length + servers.length + memberships.size
}
