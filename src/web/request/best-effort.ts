import type { Dashboard } from '../context.ts'

/**
 * Runs a follow-up to a completed action. Reports a failure to `onFault` and returns `otherwise`.
 * The action still succeeds.
 */
export async function bestEffort<T>(
  { onFault }: Pick<Dashboard, 'onFault'>,
  work: () => Promise<T>,
  otherwise: T,
): Promise<T> {
  try {
    return await work()
  } catch (fault) {
    onFault(fault)
    return otherwise
  }
}
