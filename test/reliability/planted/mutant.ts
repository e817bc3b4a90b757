/**
 * A possible mistake in the code and the test that notices it. `npm run planted` makes it in a copy
 * of the tree and runs the test. `planted.test.ts` checks that each mistake can still be made.
 */
export interface Mutant {
  /** Unique and in kebab-case: the mistake. */
  name: string
  file: string
  /** Occurs exactly once in the file. */
  from: string
  to: string
  noticedBy: Witness | Equivalent
}

/** A test file, and a part of the name of its test that notices the mistake. */
export interface Witness {
  test: string
  only: string
}

/** A mistake that no caller can see, and the reason. */
export interface Equivalent {
  equivalent: string
}

export function witness(test: string, only: string): Witness {
  return { test, only }
}
