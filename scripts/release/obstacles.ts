import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findChanged, hashMigrations } from '../../test/reliability/releases/kept.ts'
import { findUnwritten } from './changelog.ts'
import { findOtherPlaces, findOtherVersions } from './names.ts'

/**
 * What keeps a checkout from being released: each in a sentence that says what to do. The files of
 * a release are those of a commit, and everything in them names one version.
 */
export function findObstacles(root: string): string[] {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const { version } = JSON.parse(read('package.json'))
  return [
    ...findUncommitted(root),
    ...findOtherTag(root, version),
    ...findOtherVersions(read),
    ...findOtherPlaces(read),
    ...findUnwritten(read('CHANGELOG.md'), version),
    ...findNotKept(root, version),
  ]
}

function findUncommitted(root: string): string[] {
  const changed = git(root, 'status', '--porcelain').trimEnd()
  if (changed === '') return []
  return [`the working tree has changes that no commit has. Commit or remove them:\n${changed}`]
}

function findOtherTag(root: string, version: string): string[] {
  const tag = `v${version}`
  const here = git(root, 'tag', '--points-at', 'HEAD', '--list', 'v*').trim()
  if (here === git(root, 'tag', '--list', tag).trim()) return []
  return [
    `the commit has ${here || 'no tag'}, and package.json has ${version}. Check out the commit of ` +
      `${tag}, or change the version or the tag`,
  ]
}

/** The tests of later versions need the files that `npm run freeze` writes. */
function findNotKept(root: string, version: string): string[] {
  const path = `test/reliability/releases/${version}/release.json`
  const freeze =
    'Take the date out of the changelog, run `npm run freeze`, and commit what it wrote'
  if (!existsSync(join(root, path))) return [`there is no ${path}. ${freeze}`]
  const kept = JSON.parse(readFileSync(join(root, path), 'utf8'))
  const present = hashMigrations(join(root, 'src'))
  const added = Object.keys(present).filter((each) => kept.migrations[each] === undefined)
  if (findChanged(kept, present).length === 0 && added.length === 0) return []
  return [`the migrations have changed since ${path} was written. ${freeze}`]
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
}
