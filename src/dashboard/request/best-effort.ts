import type { Dashboard } from '../context.ts'

/**
 * Runs a follow-up to a completed action. A failure is reported, returns `otherwise`, and hides
 * nothing of the action.
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
