import { globSync } from 'node:fs'

/** Throws if a pattern matches no file, because a script would silently skip a renamed file. */
export function assertExist(patterns: readonly string[], namedBy: string): void {
  for (const pattern of patterns)
    if (globSync(pattern).length === 0)
      throw new Error(`${namedBy} names ${pattern}, but there is no such file`)
}
