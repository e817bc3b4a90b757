import { now, type Operation } from '../record/record.ts'

/** The operator's acts, each recorded with its outcome. */
export interface Acts {
  /** Does an act. If it fails, its outcome is unknown and the result is null. */
  act<T>(
    operation: Operation['operation'],
    rest: Pick<Operation, 'key' | 'owner' | 'body'>,
    body: () => Promise<T>,
  ): Promise<T | null>
  /** Rejects the acts under way and all later ones. */
  abandon(): void
  isAbandoned(): boolean
}

export function recordActs(operations: Operation[]): Acts {
  const abandoned = Promise.withResolvers<never>()
  abandoned.promise.catch(() => {})
  let isAbandoned = false
  return {
    async act(operation, rest, body) {
      const t0 = now()
      const done = await Promise.race([body(), abandoned.promise]).catch(() => null)
      if (isAbandoned) return abandoned.promise
      const status = done === null ? 0 : 200
      const nowhere = { connection: 0, place: 0, process: 0 }
      operations.push({ operation, ...rest, t0, t1: now(), status, ...nowhere })
      return done
    },
    abandon() {
      isAbandoned = true
      abandoned.reject(new Error('the run was abandoned'))
    },
    isAbandoned: () => isAbandoned,
  }
}
