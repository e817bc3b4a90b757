import { setImmediate as otherWork } from 'node:timers/promises'

/** Entries that one turn of the event loop reads or checks at most. */
export const TURN_ENTRIES_MAX = 100
/** A turn ends as soon as its entries have this many characters together. */
export const TURN_CHARACTERS_MAX = 65_536

/** Splits long work into turns of the event loop, because the API's answers wait for each turn. */
export interface Turns {
  /** Counts an entry. Returns a promise if the turn has done its share: await it. */
  after(characters: number): Promise<void> | undefined
}

/** Tests pass another `pause`, to see what each turn does. */
export function createTurns(pause: () => Promise<void> = otherWork): Turns {
  let entries = 0
  let characters = 0
  return {
    after(length) {
      entries += 1
      characters += length
      if (entries < TURN_ENTRIES_MAX && characters < TURN_CHARACTERS_MAX) return undefined
      entries = 0
      characters = 0
      return pause()
    },
  }
}
