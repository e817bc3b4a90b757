/**
 * Numbers of keys, by their ids: 0 for the first one, and so on. A hash table of numbers takes less
 * memory than a Map, which also leaves garbage each time it grows.
 */
export interface KeyNumbers {
  /** The ids in the order of their numbers. */
  readonly ids: readonly string[]
  /** The key's number; undefined if it has none. */
  find(apiKeyId: string): number | undefined
  /** The same, but a key without a number gets the next one. Undefined if all numbers are taken. */
  assign(apiKeyId: string): number | undefined
}

export function createKeyNumbers(keysMax: number): KeyNumbers {
  const ids: string[] = []
  // Each place has a number plus one, or 0. A fifth stays free, so that a search passes few places.
  const places = new Uint32Array(2 ** Math.ceil(Math.log2(1.25 * keysMax)))

  /** The place of the key, or the free place where its number belongs. */
  function placeOf(apiKeyId: string): number {
    for (let hash = hashOf(apiKeyId); ; hash += 1) {
      const place = hash & (places.length - 1)
      const found = places[place]!
      if (found === 0 || ids[found - 1] === apiKeyId) return place
    }
  }

  function numberAt(place: number): number | undefined {
    const found = places[place]!
    return found === 0 ? undefined : found - 1
  }

  return {
    ids,
    find: (apiKeyId) => numberAt(placeOf(apiKeyId)),

    assign(apiKeyId) {
      const place = placeOf(apiKeyId)
      const known = numberAt(place)
      if (known !== undefined || ids.length === keysMax) return known
      places[place] = ids.push(apiKeyId)
      return ids.length - 1
    },
  }
}

/** FNV-1a over the character codes. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}
