/** A test's context, or a program in its place: what is to be done when all is over. */
export interface Ends {
  after(end: () => unknown): void
}

/** The same, the last first: what was built on something else goes before it. */
export function lastFirst(t: Ends): Ends {
  const ends: (() => unknown)[] = []
  t.after(async () => {
    let failure: unknown = null
    for (const end of ends.splice(0).toReversed())
      try {
        await end()
      } catch (error) {
        failure ??= error
      }
    if (failure !== null) throw failure
  })
  return { after: (end) => void ends.push(end) }
}
