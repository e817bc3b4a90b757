import { stripTypeScriptTypes } from 'node:module'
import type { Run } from './copied-tree.ts'

export type Verdict = 'noticed' | 'SURVIVED' | 'UNSOUND'

/** What Node.js and the engines report about code that they cannot run, which fails every test. */
const NOT_RUN =
  /ERR_INVALID_TYPESCRIPT_SYNTAX|ERR_MODULE_NOT_FOUND|does not provide an export|: syntax error|syntax error at or near/

/**
 * The verdict on a mistake. Only a failure of the named test counts, because a file that cannot be
 * loaded fails, too.
 */
export function verdictOf({ failed, timedOut, output }: Run, only: string): Verdict {
  if (timedOut) return 'noticed'
  if (failed === 0) return 'SURVIVED'
  const isNamed = output
    .split('\n')
    .some((line) => /^\s*not ok /.test(line) && unescaped(line).includes(only))
  return isNamed && !NOT_RUN.test(output) ? 'noticed' : 'UNSOUND'
}

/** TAP escapes its own characters with a backslash. */
function unescaped(line: string): string {
  return line.replaceAll(/\\([#\\])/g, '$1')
}

/** The syntax error of a TypeScript file; null if there is none. */
export function syntaxErrorIn(file: string, text: string): string | null {
  if (!file.endsWith('.ts')) return null
  try {
    stripTypeScriptTypes(text)
    return null
  } catch (error) {
    return String(error)
  }
}
