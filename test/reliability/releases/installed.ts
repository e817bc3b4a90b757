import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { install } from '../../../scripts/package/installed.ts'
import { FILES, type KeptRelease } from './kept.ts'

/** Installs the kept package of a release, as it was released. Returns the path of the command. */
export function installKept(t: Pick<TestContext, 'after'>, release: KeptRelease): string {
  const tarball = join(release.folder, FILES.package)
  assert.equal(hash('sha256', readFileSync(tarball)), release.package, `${tarball} has changed`)
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-kept-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return install(tarball, join(folder, 'installed'))
}

/** Runs lines of a shell in which `server-listing` is this command. */
export function runLines(bin: string, lines: string, env: Record<string, string>) {
  const PATH = `${dirname(bin)}${delimiter}${process.env.PATH}`
  return spawnSync('sh', ['-c', lines], { env: { ...env, PATH }, encoding: 'utf8' })
}
