import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'

/*
 * Types and validators of other programs, which `npm ci --prefix test/operations/deploy/tools`
 * installs. Only the types know which fields there are, and only the validators know formats.
 */

const TOOLS = join(ROOT, 'test/operations/deploy/tools/node_modules')
const COMPILER = join(ROOT, 'node_modules/.bin/tsc')
const OPTIONS = [
  '--noEmit',
  '--strict',
  '--skipLibCheck',
  '--target',
  'esnext',
  '--module',
  'nodenext',
]

/** What the compiler, and then Node.js, find in a program with these packages. */
export function findingsIn(t: TestContext, program: string): string {
  const folder = temporaryFolder(t)
  symlinkSync(TOOLS, join(folder, 'node_modules'))
  const file = join(folder, 'program.mts')
  writeFileSync(file, program)
  const runs = [
    [COMPILER, [...OPTIONS, file]],
    [process.execPath, [file]],
  ] as const
  return runs
    .map(([command, args]) => spawnSync(command, args, { cwd: folder, encoding: 'utf8' }))
    .map(({ status, stdout, stderr }) => (status === 0 ? '' : `${stdout}${stderr}`))
    .join('')
}
