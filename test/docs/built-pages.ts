import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The pages of a built site, by their path in it. */
export function pagesBelow(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries
      .filter(({ name }) => name.endsWith('.html'))
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [relative(folder, path), readFileSync(path, 'utf8')]),
  )
}
