import type { Database } from '../../database/database.ts'
import type { Instant } from '../../model/instant.ts'
import type { Document } from '../document.ts'
import { fileParts, type PartPlan } from '../records/file-parts.ts'
import type { Whole } from '../records/planning.ts'
import { refusal } from './read-file.ts'

export interface FilePlan {
  plans: PartPlan[]
  whole: Whole
}

/** Plans a document, a part at a time. One error has all mistakes that the database shows. */
export async function planFile(
  database: Database,
  file: string,
  document: Document,
  now: Instant,
  operators: readonly string[],
): Promise<FilePlan> {
  const { parts, whole } = await fileParts(database).split(document, operators)
  const plans: PartPlan[] = []
  const places = new Map<string, string>()
  const complaints = []
  for (const part of parts) {
    const plan = await fileParts(database).plan(part, whole, now)
    plans.push(plan)
    complaints.push(...plan.complaints)
    for (const [userId, place] of plan.places) {
      const earlier = places.get(userId)
      if (earlier !== undefined)
        complaints.push({ place, message: `means the same user as ${earlier}` })
      else places.set(userId, place)
    }
  }
  if (complaints.length > 0) throw refusal(file, complaints)
  return { plans, whole }
}
