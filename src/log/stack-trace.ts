import { readFileSync } from 'node:fs'

const PLACE = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g

/**
 * A stack trace whose lines name source files, such as `src/service.ts:12:3`. The published package
 * consists of chunks, each with a source map. A place without a map stays as it is.
 */
export function withSources(stack: string): string {
  return stack.replace(
    PLACE,
    (place, url: string, line: string, column: string) =>
      originOf(url, Number(line), Number(column)) ?? place,
  )
}

function originOf(url: string, line: number, column: number): string | null {
  // Loaded here: most processes have no trace to show.
  const { SourceMap } = process.getBuiltinModule('node:module')
  try {
    const map = new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')))
    const origin = map.findOrigin(line, column)
    if (!('fileName' in origin)) return null
    const path = origin.fileName.replace(/^(\.\.\/)+/, '')
    return `${path}:${origin.lineNumber}:${origin.columnNumber}`
  } catch {
    return null
  }
}
