import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'

/*
 * dist/, which the published package has in the place of src/: Node.js strips no types below node_modules.
 */

rmSync('dist', { recursive: true, force: true })
execFileSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' })
for (const engine of ['sqlite', 'postgres'])
  cpSync(`src/${engine}/migrations`, `dist/${engine}/migrations`, { recursive: true })
cpSync('src/dashboard/assets', 'dist/dashboard/assets', { recursive: true })
