/** Registers what to do at the end of a test or program. */
export interface Ends {
  after(end: () => unknown): void
}

/** Runs the last registered end first, because later things are built on earlier ones. */
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
