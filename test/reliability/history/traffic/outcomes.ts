import type { RawAnswer } from '../../../wire/client/read-answer.ts'
import { flawOf } from '../record/expected-answers.ts'
import { now, type Operation } from '../record/record.ts'
import { stateShown } from './listing.ts'
import type { Subject } from './scene.ts'

/** The requests of one connection and their outcomes, in order. */
export interface Outcomes {
  /** Registers a request, `null` for the health. Resolves with its outcome. */
  expect(subject: Subject | null, t0: number): Promise<Operation>
  /** Gives the next request its answer. An answer without a request is recorded as unasked. */
  settle(answer: RawAnswer): void
  /** Leaves all requests without an answer, as the connection has closed. */
  settleAll(): void
}

interface Pending {
  subject: Subject | null
  t0: number
  place: number
  settle(operation: Operation): void
}

export function recordOutcomes(
  operations: Operation[],
  at: Pick<Operation, 'connection' | 'process'>,
): Outcomes {
  const pending: Pending[] = []
  let place = 0

  function settle(answer: RawAnswer | null): void {
    const { subject, settle, ...rest } = pending.shift() ?? unasked()
    const flaw = answer === null ? null : flawOf(answer, subject === null ? 'health' : 'get')
    const operation: Operation = {
      operation: settle === null ? 'unasked' : subject === null ? 'health' : 'get',
      key: subject?.name ?? '',
      owner: subject?.owner.name ?? '',
      ...rest,
      t1: now(),
      status: answer?.status ?? 0,
      body: answer === null ? '' : wordFor(answer, subject),
      ...at,
      ...(flaw === null ? {} : { flaw }),
    }
    operations.push(operation)
    settle?.(operation)
  }

  function unasked() {
    place += 1
    return { subject: null, t0: now(), place, settle: null }
  }

  return {
    expect(subject, t0) {
      place += 1
      const { promise, resolve } = Promise.withResolvers<Operation>()
      pending.push({ subject, t0, place, settle: resolve })
      return promise
    },
    settle,
    settleAll() {
      while (pending.length > 0) settle(null)
    },
  }
}

function wordFor({ status, body }: RawAnswer, subject: Subject | null): string {
  if (subject === null) return body
  if (status === 200) return stateShown(body, subject.owner.name, subject.owner.size)
  return (JSON.parse(body) as { error: string }).error
}
