import { act } from '../../accounts/records/audit.ts'
import type { Database } from '../../database/database.ts'
import type { Actor } from '../../model/audit.ts'
import type { ActName, ActsAnswer, Complaint, Document, Hand } from '../document.ts'
import { readAll } from './exported.ts'
import { expand, planLocked, planRead, retryCollisions } from './planned.ts'
import type { Planning } from './planning.ts'
import { writePlan } from './written.ts'

export interface PerformOptions {
  hand: Hand
  actor: Actor
  /** Whether OPERATORS has this address. */
  isOperator(email: string): boolean
  /** Only answers. */
  dryRun?: boolean
}

/** An operator's document has mistakes that only the database shows. Nothing was changed. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly complaints: readonly Complaint[]

  constructor(complaints: readonly Complaint[]) {
    super(complaints.map(({ place, message }) => `${place}: ${message}`).join('\n'))
    this.complaints = complaints
  }
}

export function acts(database: Database) {
  const { dialect } = database

  return {
    /**
     * Does all acts of a document in one transaction and says what it has done. Throws Refusal for
     * an operator's document that has a mistake.
     */
    async perform(document: Document, options: PerformOptions): Promise<ActsAnswer> {
      const { actor, dryRun = false } = options
      const given = { ...options, now: actor.at }
      if (dryRun)
        return answerOf(
          await database.snapshot(async (queries) =>
            planRead(queries, dialect, await expand(queries, document), given),
          ),
        )
      return retryCollisions(database, () =>
        act(database, actor, async (transaction, note) => {
          const whole = await expand(transaction, document)
          const planning = await planLocked(transaction, dialect, whole, given)
          const answer = answerOf(planning)
          await writePlan(transaction, dialect, planning, note)
          return answer
        }),
      )
    },

    /**
     * Hands over the rows of a file, as they are at one moment. `onRows` must not wait for
     * anything, because a transaction is open.
     */
    readAll: (onRows: (act: ActName, rows: object[]) => void): Promise<void> =>
      database.snapshot((queries) => readAll(queries, dialect, onRows)),
  }
}

function answerOf({ answer, complaints }: Planning): ActsAnswer {
  if (complaints.length > 0) throw new Refusal(complaints)
  return answer
}
