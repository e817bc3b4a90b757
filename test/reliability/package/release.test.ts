import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { versionOfTree } from '../../../scripts/release/changelog.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { hashMigrations } from '../releases/kept.ts'

/*
 * `npm run release` in a clean clone, whose only commit has the files of the working tree and what
 * a maintainer writes before a release.
 */

const VERSION = versionOfTree()
const AUTHOR = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
let folder: string
let clone: string

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'server-listing-release-'))
  clone = join(folder, 'clone')
  for (const path of git(ROOT, 'ls-files', '-co', '--exclude-standard', '-z').split('\0'))
    if (path !== '') copy(path)
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  writeAsMaintainer()
  git(clone, 'init', '--quiet')
  // The pattern in .gitignore is for a folder, and this is a link.
  appendFileSync(join(clone, '.git/info/exclude'), 'node_modules\n')
  commit()
})
after(() => rmSync(folder, { recursive: true, force: true }))

test('the same commit gives the same files of a release, in any folder and under any umask', () => {
  const first = released()
  rmSync(join(clone, 'release'), { recursive: true })
  rmSync(join(clone, 'dist'), { recursive: true })
  const moved = join(folder, 'another place')
  renameSync(clone, moved)
  clone = moved
  git(clone, ...AUTHOR, 'tag', '--annotate', '--message', 'The release', `v${VERSION}`)
  // The modes of a clone under the umask 077. chmod leaves out what the link leads to.
  execFileSync('chmod', ['-R', 'go=', clone])
  // An image of a checkout takes the package from this folder.
  writeFileSync(join(clone, 'deploy/server-listing-0.0.1.tgz'), '')
  const usual = process.umask(0o077)
  try {
    assert.deepEqual(released(), first)
  } finally {
    process.umask(usual)
    git(clone, 'tag', '--delete', `v${VERSION}`)
  }
  assert.deepEqual(first.names, [
    'Dockerfile',
    'SHA256SUMS',
    `server-listing-${VERSION}.cdx.json`,
    `server-listing-${VERSION}.tgz`,
    `server-listing-client-${VERSION}.tgz`,
  ])
  assert.equal(git(clone, 'status', '--porcelain'), '')
})

test('a change without a commit is named, and nothing is released', () => {
  appendFileSync(join(clone, 'README.md'), 'more\n')
  assertRefused(/changes that no commit has\. Commit or remove them:\n M README\.md/)
  git(clone, 'checkout', '--quiet', 'README.md')
})

test('a changelog without the heading of the version is refused', () => {
  const path = join(clone, 'CHANGELOG.md')
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace(/^## .* - .*$/m, '## Unreleased'))
  commit()
  assertRefused(/has no heading "## \S+ - YYYY-MM-DD"/)
  writeFileSync(path, text)
  commit()
})

test('a migration that the kept files do not know is refused', () => {
  const path = join(clone, 'src/sqlite/migrations/9999-next.sql')
  writeFileSync(path, '-- oldest compatible program: 1\n')
  commit()
  assertRefused(/the migrations have changed since .*`npm run freeze`/)
  rmSync(path)
  commit()
})

test('a commit with the tag of another version is refused', () => {
  git(clone, 'tag', 'v9.9.9')
  assertRefused(/the commit has v9\.9\.9, and package\.json has \d+\.\d+\.\d+\. Check out/)
  git(clone, 'tag', '--delete', 'v9.9.9')
})

test('a version whose tag is on another commit is refused', () => {
  git(clone, 'tag', `v${VERSION}`)
  appendFileSync(join(clone, 'README.md'), 'more\n')
  commit()
  assertRefused(/the commit has no tag, and package\.json has \S+\. Check out the commit of v/)
})

function released(): { sums: string; names: string[] } {
  const { status, stderr } = release()
  assert.equal(status, 0, stderr)
  const path = join(clone, 'release')
  return {
    sums: readFileSync(join(path, 'SHA256SUMS'), 'utf8'),
    names: readdirSync(path).toSorted(),
  }
}

function assertRefused(sentence: RegExp): void {
  rmSync(join(clone, 'release'), { recursive: true, force: true })
  const { status, stdout, stderr } = release()
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, sentence)
  assert.equal(stderr.match(/^error: /gm)!.length, 1, stderr)
  assert.ok(!readdirSync(clone).includes('release'))
}

function release() {
  return spawnSync('npm', ['run', '--silent', 'release'], { cwd: clone, encoding: 'utf8' })
}

/** Gives the changelog its date, and keeps what `npm run freeze` writes for the tests. */
function writeAsMaintainer(): void {
  const changelog = join(clone, 'CHANGELOG.md')
  const text = readFileSync(changelog, 'utf8')
  writeFileSync(changelog, text.replace('## Unreleased', `## ${VERSION} - 2026-12-01`))
  const kept = join(clone, 'test/reliability/releases', VERSION)
  mkdirSync(kept, { recursive: true })
  const facts = { version: VERSION, migrations: hashMigrations(), answers: {} }
  writeFileSync(join(kept, 'release.json'), JSON.stringify(facts))
}

function commit(): void {
  git(clone, 'add', '--all')
  git(clone, ...AUTHOR, 'commit', '--quiet', '--allow-empty', '--message', 'The tree')
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' })
}

function copy(path: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true })
  cpSync(join(ROOT, path), join(clone, path))
}
