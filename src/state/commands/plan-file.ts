import { type DeclaredRecord, isOrganization } from '../declared-state.ts'
import type { ReadState } from '../read-state.ts'
import type { RecordPlan, StateOptions } from '../state-store.ts'
import { refusal } from './read-file.ts'
import type { Database } from '../../database/database.ts'
import { states } from '../records/states.ts'

/** Keys, servers, memberships and records that are planned together. */
const ROWS_PLANNED = 1_000

/**
 * Plans a state without mistakes, a part at a time. Else one error has those of the file and of the
 * database.
 */
export async function planFile(
  database: Database,
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
  const records = [...state.organizations, ...state.users]
  const units = records.map((record) => [{ record }]).values()
  for (let rows = ROWS_PLANNED; rows >= ROWS_PLANNED; ) {
    const part = takeRows(units, ROWS_PLANNED)
    rows = part.rows
    const found = await states(database).planState(
      part.items.map(({ record }) => record),
      options,
    )
    for (const plan of found) {
      plans.push(plan)
      for (const complaint of plan.complaints) all.push(complaint)
      const { userId, record } = plan
      const earlier = places.get(userId ?? '')
      if (earlier !== undefined)
        all.push({ place: record.place, message: `means the same user as ${earlier}` })
      else if (userId !== null) places.set(userId, record.place)
    }
  }
  if (all.length > 0) throw refusal(file, all)
  return { plans, options }
}

/** Takes units until they have this many rows. Fewer rows mean that none are left. */
export function takeRows<Item extends { record: DeclaredRecord }>(
  units: Iterator<readonly Item[], void>,
  rowsMax: number,
): { items: Item[]; rows: number } {
  const items: Item[] = []
  let rows = 0
  while (rows < rowsMax) {
    const { value } = units.next()
    if (!value) break
    for (const item of value) {
      items.push(item)
      rows += rowsOf(item.record)
    }
  }
  return { items, rows }
}

/** How many rows a record has in the database. */
function rowsOf(record: DeclaredRecord): number {
  if (isOrganization(record)) return 1
  const { keys = [], servers = [], memberships } = record
  return 1 + keys.length + servers.length + memberships.size
}
