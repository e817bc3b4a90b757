import { relative, resolve } from 'node:path'
import type { Plugin } from 'rolldown'

/**
 * Gives each module the `import.meta.url` that it would have if its folder below `sources` were
 * copied to `dist/`. So a module finds its files from any chunk.
 */
export function sourceUrls(sources: string): Plugin {
  return {
    name: 'source-urls',

    transform(code, id) {
      const path = relative(resolve(sources), id)
      if (path.startsWith('..') || !code.includes('import.meta.url')) return null
      const url = `new URL('./${path}', import.meta.url).href`
      // A null map leaves every line where it is.
      return { code: code.replaceAll('import.meta.url', url), map: null }
    },
  }
}
