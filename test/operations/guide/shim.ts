import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../fixtures/tree.ts'

/** The environment of a shell whose `server-listing` is the program of this checkout. */
export function shellEnvironment(scratch: string): { PATH: string; NODE_COMPILE_CACHE: string } {
  const programs = join(scratch, 'programs')
  mkdirSync(programs)
  const shim = join(programs, 'server-listing')
  const program = join(ROOT, 'bin/server-listing.js')
  writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' -- '${program}' "$@"\n`)
  chmodSync(shim, 0o755)
  return {
    PATH: `${programs}:${process.env.PATH}`,
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'),
  }
}
